// Times and sizes in words. The viewer's system decides the clock (24 h or AM/PM) and the time zone.
import { t } from './text';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

// "09:05" of 24 hours, "9:05 AM" of twelve.
export const hourOf = (locale?: string): 'numeric' | '2-digit' =>
  new Intl.DateTimeFormat(locale, { hour: 'numeric' }).resolvedOptions().hour12 ? 'numeric' : '2-digit';
const hour = hourOf();
const clock = new Intl.DateTimeFormat(undefined, { hour, minute: '2-digit' });
const clockSeconds = new Intl.DateTimeFormat(undefined, { hour, minute: '2-digit', second: '2-digit' });
const dayMonth = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const dayMonthYear = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });
const weekday = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', month: 'short' });

const startOfDay = (at: number) => new Date(at).setHours(0, 0, 0, 0);
const daysBetween = (at: number, now: number) => Math.round((startOfDay(now) - startOfDay(at)) / DAY);

// "now", "4 min", "2 h", "3 d", then the date. For lists.
export function ago(iso: string, now = Date.now()): string {
  const at = Date.parse(iso);
  const past = now - at;
  if (past < MINUTE) return t('time.now');
  if (past < HOUR) return t('time.min', { n: Math.floor(past / MINUTE) });
  if (past < DAY) return t('time.h', { n: Math.floor(past / HOUR) });
  if (past < 7 * DAY) return t('time.d', { n: Math.floor(past / DAY) });
  return date(iso, now);
}

// "1 min ago", for a sentence.
export function since(iso: string, now = Date.now()): string {
  const past = now - Date.parse(iso);
  if (past < MINUTE) return t('time.justNow');
  return past < 7 * DAY ? t('time.ago', { time: ago(iso, now) }) : t('time.on', { date: date(iso, now) });
}

// "3 d ago", "22 Nov": `ago` for a time that stands alone.
export const lately = (iso: string, now = Date.now()) =>
  now - Date.parse(iso) < 7 * DAY ? since(iso, now) : date(iso, now);

// "22 Nov", with the year where it is another one.
export function date(iso: string, now = Date.now()): string {
  const at = new Date(iso);
  return (at.getFullYear() === new Date(now).getFullYear() ? dayMonth : dayMonthYear).format(at);
}

// "Today, 14:21", "Yesterday, 14:21", "22 Nov, 14:21".
export function moment(iso: string, now = Date.now()): string {
  return t('time.moment', { day: day(iso, now), time: clock.format(new Date(iso)) });
}

// "today, 14:21": a moment within a sentence.
export function momentWithin(iso: string, now = Date.now()): string {
  const days = daysBetween(Date.parse(iso), now);
  const word =
    days === 0 ? t('time.within.today') : days === 1 ? t('time.within.yesterday') : t('time.within.tomorrow');
  return t('time.moment', { day: Math.abs(days) > 1 ? day(iso, now) : word, time: clock.format(new Date(iso)) });
}

export function day(iso: string, now = Date.now()): string {
  const days = daysBetween(Date.parse(iso), now);
  if (days === 0) return t('time.today');
  if (days === 1) return t('time.yesterday');
  if (days === -1) return t('time.tomorrow');
  return Math.abs(days) < 180 ? weekday.format(new Date(iso)) : dayMonthYear.format(new Date(iso));
}

export const hoursMinutes = (iso: string) => clock.format(new Date(iso));
export const hoursMinutesSeconds = (iso: string) => clockSeconds.format(new Date(iso));
export const utc = (iso: string) =>
  new Date(iso)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, ' UTC');

// "9 s", "3 min", "2 h", "3 d": how long something took.
export function duration(ms: number): string {
  if (ms < 1) return t('time.instant');
  if (ms < 1000) return t('time.ms', { n: Math.round(ms) });
  if (ms < MINUTE) return t('time.s', { n: Math.round(ms / 1000) });
  if (ms < HOUR) return t('time.min', { n: Math.round(ms / MINUTE) });
  if (ms < DAY) return t('time.h', { n: Math.round(ms / HOUR) });
  return t('time.d', { n: Math.round(ms / DAY) });
}

// "under a second", "9 s", "3 min": how long a person waited, who counts no milliseconds.
export const lasted = (ms: number) => (ms < 1000 ? t('time.underSecond') : duration(ms));

// "2 d 3 h", "23 h 59 min", "4 min 9 s", "9 s": how much time is left.
export function timeLeft(ms: number): string {
  const s = Math.ceil(ms / 1000);
  const [min, h, d] = [Math.floor(s / 60), Math.floor(s / 3600), Math.floor(s / 86_400)];
  if (d > 0) return `${t('time.d', { n: d })} ${t('time.h', { n: h % 24 })}`;
  if (h > 0) return `${t('time.h', { n: h })} ${t('time.min', { n: min % 60 })}`;
  return min > 0 ? `${t('time.min', { n: min })} ${t('time.s', { n: s % 60 })}` : t('time.s', { n: s });
}

const unit = (name: string) => new Intl.NumberFormat('en', { style: 'unit', unit: name, unitDisplay: 'long' });
const [hoursLong, daysLong] = [unit('hour'), unit('day')];
// "5 hours", "4 days", for a sentence about what is to come.
export const spelled = (ms: number) =>
  ms < 2 * DAY ? hoursLong.format(Math.max(1, Math.round(ms / HOUR))) : daysLong.format(Math.round(ms / DAY));

// "UTC+1" of the viewer at that time.
export function zone(at = new Date()): string {
  const minutes = -at.getTimezoneOffset();
  if (minutes === 0) return 'UTC';
  const hours = Math.trunc(Math.abs(minutes) / 60);
  const rest = Math.abs(minutes) % 60;
  return `UTC${minutes < 0 ? '−' : '+'}${hours}${rest ? `:${String(rest).padStart(2, '0')}` : ''}`;
}

// "25", "1.5": so many of something a day.
export const pace = (perDay: number) =>
  perDay < 10 ? Math.max(Math.round(perDay * 10) / 10, 0.1) : Math.round(perDay);

const list = new Intl.ListFormat('en', { type: 'conjunction' });
export const listed = (names: string[]) => list.format(names);
