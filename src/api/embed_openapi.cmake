# Writes the JSON document as an array of bytes: a string literal has a largest size.
file(READ ${JSON} hex HEX)
string(LENGTH "${hex}" digits)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
math(EXPR size "${digits} / 2")
file(WRITE ${OUT} "#include \"api/openapi_document.h\"\n\nnamespace presetbridge::api {\nnamespace {\n"
  "constexpr unsigned char kBytes[${size}] = {${bytes}};\n}\n"
  "const std::string_view openapi_document(reinterpret_cast<const char*>(kBytes), ${size});\n}\n")
