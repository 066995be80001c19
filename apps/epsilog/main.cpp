#include "run.hpp"

int main(int argc, char** argv) {
  return epsilog::command::run(argc, argv);
}
