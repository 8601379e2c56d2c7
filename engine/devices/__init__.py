"""Where kernels run: GPUs by NVML, and the toolkit that builds for them."""
