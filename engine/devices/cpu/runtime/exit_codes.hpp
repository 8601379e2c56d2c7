// How a process ends that this device had to end: what the harness tells a program's own failure from.
#pragma once

namespace beaver {

enum class Exit {
    deadlock = 124,   // a kernel can never go on
    needs_gpu = 125,  // the program asks for what this device has not
    broken = 126      // a fault of this device or its surroundings, and none of the program's
};

}  // namespace beaver
