#include "tools.hpp"

#include "options.hpp"

namespace beaver {

void start_tools() {
    switch (options().tool) {
        case Tool::racecheck: return start_racecheck();
        case Tool::synccheck: return start_synccheck();
        case Tool::none:
        case Tool::memcheck:
        case Tool::initcheck: return;  // they work in the access paths alone
    }
}

}  // namespace beaver
