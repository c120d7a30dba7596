// The texts of the catalogue by their keys, as far as their parts have been imported. A text with plural forms is an object of them.
type Text = string | Readonly<Record<string, string>>;

export const words: Record<string, Text> = {};
export const addWords = (more: Record<string, Text>) => void Object.assign(words, more);
