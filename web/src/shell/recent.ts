// What was looked at last in this tab: names of orders and buyers, so they are kept in memory alone and of one person.
export type Recent = { path: string; title: string };
const MOST = 5;

let whose = '';
let recent: Recent[] = [];

export function remember(user: string, { path, title }: Recent) {
  if (user !== whose) recent = [];
  whose = user;
  recent = [{ path, title }, ...recent.filter((one) => one.path !== path)].slice(0, MOST);
}

// After what it names was erased.
export function forgetRecent() {
  recent = [];
}

export const recentOf = (user: string): readonly Recent[] => (user === whose ? recent : []);
