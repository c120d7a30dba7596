// A table as CSV (RFC 4180). A cell that a spreadsheet would take for a formula is marked as text.
import { download } from './download';

export type Table = (string | number)[][]; // its head first

const cell = (value: string | number) => {
  const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
export const csvOf = (rows: Table) => rows.map((row) => row.map(cell).join(',') + '\r\n').join('');
export const saveCsv = (name: string, rows: Table) => download(`${name}.csv`, csvOf(rows));
