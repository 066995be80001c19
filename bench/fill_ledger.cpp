// Makes a ledger with many decisions, to be profiled: epsilog_fill_ledger PATH DECISIONS
#include <cstdio>
#include <exception>
#include <string>

#include "filled_ledger.hpp"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: epsilog_fill_ledger PATH DECISIONS\n", stderr);
    return 2;
  }
  try {
    epsilog::bench::fill_ledger(argv[1], std::stoll(argv[2]));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "epsilog_fill_ledger: %s\n", error.what());
    return 1;
  }
}
