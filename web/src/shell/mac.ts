// Whether the key of shortcuts is ⌘; else it is Ctrl.
export const MAC = /Mac|iPhone|iPad/.test(navigator.userAgent);
