"""A depthwise convolution over time, same length, with bias and ReLU."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, x, weight, bias):
        return torch.relu(F.conv1d(x, weight.unsqueeze(1), bias, padding=weight.size(1) // 2, groups=x.size(1)))


BATCH, CHANNELS, STEPS, TAPS = 8, 96, 2001, 7


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, STEPS), torch.randn(CHANNELS, TAPS), torch.randn(CHANNELS)]


def get_init_inputs():
    return []
