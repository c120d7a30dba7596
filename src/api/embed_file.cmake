# Writes FILE as the array of bytes behind the variable NAME of HEADER: a string literal has a largest size.
file(READ ${FILE} hex HEX)
string(LENGTH "${hex}" digits)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
math(EXPR size "${digits} / 2")
file(WRITE ${OUT} "#include \"${HEADER}\"\n\nnamespace presetbridge::api {\nnamespace {\n"
  "constexpr unsigned char kBytes[${size}] = {${bytes}};\n}\n"
  "const std::string_view ${NAME}(reinterpret_cast<const char*>(kBytes), ${size});\n}\n")
