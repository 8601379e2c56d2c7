"""A linear layer with ReLU."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, x, weight, bias):
        return torch.relu(F.linear(x, weight, bias))


ROWS, INPUTS, OUTPUTS = 1000, 700, 900


def get_inputs():
    return [torch.randn(ROWS, INPUTS), torch.randn(OUTPUTS, INPUTS), torch.randn(OUTPUTS)]


def get_init_inputs():
    return []
