// Parts of the frame that are loaded once the first page is drawn (tools/sizes.mjs counts them as there when one goes to another).
import { lazy } from 'react';

const personMenu = () => import('./PersonMenu').then((part) => ({ default: part.PersonMenu }));
const shortcuts = () => import('./ShortcutsDialog').then((part) => ({ default: part.ShortcutsDialog }));

export const PersonMenu = lazy(personMenu);
export const ShortcutsDialog = lazy(shortcuts);

// Not there yet is no fault: whoever presses the button asks again.
export const loadLater = () => void Promise.allSettled([personMenu(), shortcuts()]);
