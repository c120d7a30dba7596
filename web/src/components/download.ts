// Hands the viewer a text as a file of our own making; no address leads to it from outside.
export function download(name: string, text: string, type = 'text/csv') {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
