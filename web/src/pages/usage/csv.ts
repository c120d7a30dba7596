// A table as CSV (RFC 4180). A cell that a spreadsheet would take for a formula is marked as text.
const cell = (value: string | number) => {
  const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
export const csvOf = (rows: (string | number)[][]) => rows.map((row) => row.map(cell).join(',') + '\r\n').join('');

export function saveCsv(name: string, text: string) {
  const address = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = `${name}.csv`;
  link.click();
  URL.revokeObjectURL(address);
}
