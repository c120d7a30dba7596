// Whether a sign-out is still owed to the service. The mark in the browser's storage says no more than that.
const KEY = 'presetbridge-sign-out-owed';
let here = false; // where the browser gives no storage, this tab alone knows

export const owed = {
  get(): boolean {
    try {
      return localStorage.getItem(KEY) !== null;
    } catch {
      return here;
    }
  },
  set(is: boolean) {
    here = is;
    try {
      if (is) localStorage.setItem(KEY, '');
      else localStorage.removeItem(KEY);
    } catch {
      // No storage: `here` has it.
    }
  },
};
