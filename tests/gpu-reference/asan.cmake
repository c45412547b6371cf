# Included by CMakeLists.txt when ORRERY_FUZZERS is on, the switch of what is
# built under sanitizers. The emulation, the kernels and steps over it, and the
# latency model are built again, instrumented, and the page allocator with
# them; what else they stand on is not. No MLIR: attention is held against plain
# loops, steps of several sequences against steps of each alone.
get_target_property(gpu_folder orrery_gpu_emulated SOURCE_DIR)
get_target_property(gpu_sources orrery_gpu_emulated SOURCES)
get_target_property(gpu_plain orrery_gpu_plain SOURCES)
get_target_property(gpu_latency orrery_gpu_latency SOURCES)
list(TRANSFORM gpu_latency PREPEND ${gpu_folder}/latency/)

find_package(Boost 1.74 REQUIRED COMPONENTS context)
add_library(orrery_gpu_instrumented STATIC
  ${gpu_sources} ${gpu_plain} ${gpu_latency}
  ${CMAKE_SOURCE_DIR}/models/KvPages.cpp
  ${gpu_folder}/Reference.cpp ${gpu_folder}/timing/Measurement.cpp)
target_include_directories(orrery_gpu_instrumented PRIVATE
  $<TARGET_PROPERTY:orrery_gpu_latency,INCLUDE_DIRECTORIES>)
target_compile_options(orrery_gpu_instrumented PUBLIC
  -fsanitize=address,undefined -fno-sanitize-recover=undefined -O1 -g1)
target_link_options(orrery_gpu_instrumented INTERFACE
                    -fsanitize=address,undefined)
target_link_libraries(orrery_gpu_instrumented PUBLIC
  orrery_models orrery_machine Boost::context nlohmann_json::nlohmann_json)

file(GLOB sources CONFIGURE_DEPENDS
     ${CMAKE_CURRENT_SOURCE_DIR}/emulation/*Test.cpp
     ${CMAKE_CURRENT_SOURCE_DIR}/kernels/*Test.cpp
     ${CMAKE_CURRENT_SOURCE_DIR}/latency/*Test.cpp
     ${CMAKE_CURRENT_SOURCE_DIR}/timing/*Test.cpp)
list(FILTER sources EXCLUDE REGEX "AttentionDefinitionTest.cpp$")
add_executable(orrery_gpu_asan_tests ${sources}
               BatchedStepsTest.cpp IntegerMmaTest.cpp MatrixTest.cpp
               NumericsTest.cpp PageTablesTest.cpp StepRowsTest.cpp
               ${CMAKE_SOURCE_DIR}/tests/models/KvPagesTest.cpp
               ${CMAKE_SOURCE_DIR}/tests/TestMain.cpp)
target_compile_definitions(orrery_gpu_asan_tests PRIVATE ORRERY_WITHOUT_MLIR
  ORRERY_SHARED_DIR="${ORRERY_SHARED_DIR}"
  ORRERY_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
  ORRERY_BIN_DIR="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
target_link_libraries(orrery_gpu_asan_tests PRIVATE
                      GTest::gtest orrery_gpu_instrumented)

if(ORRERY_PCH AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_precompile_headers(orrery_gpu_asan_tests PRIVATE
                            ${CMAKE_SOURCE_DIR}/cmake/TestHeaders.h)
endif()

# What the script does stands in no instrumented code.
add_test(NAME gpu.asan COMMAND orrery_gpu_asan_tests --gtest_brief=1
                               --gtest_filter=-MeasureScript*)
# Fibers have stacks of their own, which the fake stack does not know.
set_tests_properties(gpu.asan PROPERTIES LABELS gpu.asan
  ENVIRONMENT ASAN_OPTIONS=detect_stack_use_after_return=0)
