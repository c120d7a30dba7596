// A username as a person types it, here and on the buyer's page.
const MAIL = /^[^\s@/]+@[^\s@/]+\.[^\s@/]+$/;

export const plainUsername = (typed: string) => typed.trim().replace(/^@/, '');
export const looksLikeMail = (typed: string) => MAIL.test(plainUsername(typed));
