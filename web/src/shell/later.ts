// Parts of the frame that are loaded once the first page is drawn (tools/sizes.mjs counts them as loaded before another page is opened).
import { lazy } from 'react';

const personMenu = () => import('./PersonMenu').then((part) => ({ default: part.PersonMenu }));
const shortcuts = () => import('./ShortcutsDialog').then((part) => ({ default: part.ShortcutsDialog }));

export const PersonMenu = lazy(personMenu);
export const ShortcutsDialog = lazy(shortcuts);

// A failure is no fault: the press of the button loads the part again.
export const loadLater = () => void Promise.allSettled([personMenu(), shortcuts()]);
