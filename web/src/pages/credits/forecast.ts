// The pace at which credits are spent says when they run out only after some days of an account.
const MIN_MS = 2 * 86_400_000;

export const isLongEnough = (accountMadeAt: string | undefined, now: number) =>
  accountMadeAt !== undefined && now - Date.parse(accountMadeAt) >= MIN_MS;
