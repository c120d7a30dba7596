const DAY_MS = 86_400_000;
const ANSWER_DAYS = 30; // in which a shop's platform wants a buyer's request answered

export const answerBy = (receivedAt: string) => new Date(Date.parse(receivedAt) + ANSWER_DAYS * DAY_MS).toISOString();
