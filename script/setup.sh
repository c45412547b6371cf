# Shared by demo and test: packages and build. Sourced, never run.
#
# Debian 12 packages come from script/packages.txt, the only list. Missing ones
# are installed by root; without root the script says which they are.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

missing_packages() {
  sed 's/#.*//' script/packages.txt | while read -r package; do
    [ -n "$package" ] || continue
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null |
      grep -q 'ok installed' || echo "$package"
  done
}

install_packages() {
  local missing
  missing=$(missing_packages)
  [ -n "$missing" ] || return 0
  if [ "$(id -u)" -ne 0 ]; then
    echo "missing Debian packages; as root run:" >&2
    echo "  apt-get install --no-install-recommends" $missing >&2
    exit 1
  fi
  echo "installing:" $missing
  # shellcheck disable=SC2086 # one word a package
  apt-get update -q >/dev/null &&
    DEBIAN_FRONTEND=noninteractive apt-get install -y -q \
      --no-install-recommends $missing >/dev/null
}

# build PRESET TARGET...
build() {
  local preset=$1
  shift
  cmake --preset "$preset" >"build-$preset.log" 2>&1 ||
    { cat "build-$preset.log" >&2; exit 1; }
  rm -f "build-$preset.log"
  ninja -C "build/$preset" -j "${ORRERY_JOBS:-2}" "$@"
}
