# Debian ships no CMake config for SystemC. Its library exports only the C++17
# API version, so C++20 code must ask for that one.
find_package(PkgConfig REQUIRED)
pkg_check_modules(SYSTEMC REQUIRED IMPORTED_TARGET systemc)
add_library(orrery_systemc INTERFACE)
target_link_libraries(orrery_systemc INTERFACE PkgConfig::SYSTEMC)
target_compile_definitions(orrery_systemc INTERFACE SC_CPLUSPLUS=201703L)
