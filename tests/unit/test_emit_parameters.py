"""Where kernels read their parameters."""

from __future__ import annotations

from engine.devices.cpu.emit import emit_unit
from engine.devices.cpu.ptx.parser import parse

PTX = """
.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 k_param_0, .param .align 8 .b8 k_param_1[24])
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<3>;
    ld.param.v2.u32 {%r1, %r2}, [k_param_1];
    ld.param.u64 %rd1, [k_param_0];
    st.global.v2.u32 [%rd1], {%r1, %r2};
    ret;
}
"""


def test_a_vector_of_parameters_is_read_at_its_byte_offset():
    """A cast that binds tighter than the sum reads at four times the offset."""
    text = emit_unit([parse(PTX)], {})
    assert "(const uint32_t *)(params + 8)" in text
