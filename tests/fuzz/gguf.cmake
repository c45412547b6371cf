# Included by tests/CMakeLists.txt when ORRERY_FUZZERS is on. The sources of
# models/ are built again, instrumented.
file(GLOB gguf_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/models/*.cpp)
add_executable(orrery_gguf_fuzzer
  ${CMAKE_CURRENT_LIST_DIR}/GgufFuzzer.cpp ${gguf_sources})
set(gguf_sanitizers -fsanitize=fuzzer,address,undefined)
target_compile_options(orrery_gguf_fuzzer PRIVATE ${gguf_sanitizers}
                       -fno-sanitize-recover=undefined -O1 -g1)
target_link_options(orrery_gguf_fuzzer PRIVATE ${gguf_sanitizers})
target_link_libraries(orrery_gguf_fuzzer PRIVATE orrery_machine)
# The zoo's shapes are generated there.
target_include_directories(orrery_gguf_fuzzer PRIVATE
                           ${CMAKE_BINARY_DIR}/models)

# Writes the seeds again, after a change of TinyModel.h or of the format.
add_executable(orrery_gguf_corpus ${CMAKE_CURRENT_LIST_DIR}/GgufCorpus.cpp)
target_link_libraries(orrery_gguf_corpus PRIVATE orrery_models)
