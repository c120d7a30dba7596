// The pages that were opened last in this tab. They have names of orders and buyers, so they are in memory alone and of one person.
export type Recent = { path: string; title: string };
const MOST = 5;

let whose = '';
let recent: Recent[] = [];

export function remember(user: string, { path, title }: Recent) {
  if (user !== whose) recent = [];
  whose = user;
  recent = [{ path, title }, ...recent.filter((one) => one.path !== path)].slice(0, MOST);
}

// After an erasure, of which these names could be a part.
export function forgetRecent() {
  recent = [];
}

export const recentOf = (user: string): readonly Recent[] => (user === whose ? recent : []);
