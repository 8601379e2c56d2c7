"""The engine: repairs broken CUDA programs, headless. See docs/architecture.md."""
