import { addWords } from '../words';

// Matches that are typed in, or imported as a table.
export const more_matches = {
  'add.order': 'Where several match a product, the first of these counts: variant id, SKU, product id, title.',
  'add.title': 'Add a product',
  'add.type': 'Match by',
  'add.button': 'Add product',
  'add.exists': 'This already has a match.',
  'import.title': 'Import matches',
  'import.lead': 'The file replaces all matches of this store.',
  'import.added': '{n} new',
  'import.changed': '{n} changed',
  'import.removed': '{n} removed',
  'import.errors': {
    one: '{count} problem. Nothing would be saved.',
    other: '{count} problems. Nothing would be saved.',
  },
  'import.line': 'Line {line} {problem}',
  'import.lineColumn': 'Line {line}: the column {column} {problem}',
  'import.another': 'Choose another file',
  'import.button': 'Import',
  'import.done': 'Imported.',
  'import.file': 'CSV file',
} as const;

addWords(more_matches);
