// A delivery whose buyer has accepted while the job that shares its presets has not begun: its status is still that of the wait.
import '@/i18n/en/delivery';
import { t } from '@/i18n/text';
import { stateWord } from '@/vocabulary/delivery';
import { presentHolder } from './holders';
import type { Delivery } from './types';

// The service counts the step as done too where a preset was shared before, which says nothing about the present request.
export const hasAccepted = (it: Delivery) =>
  it.status === 'waiting_for_friendship' &&
  it.steps.some(({ key, state }) => key === 'accepted' && state === 'done') &&
  presentHolder(it).items.every(({ status }) => status === 'owed' || status === 'dropped');

// The status by which the page shows the delivery: what is in line has the icon of that.
export const shownStatus = (it: Delivery) => (hasAccepted(it) ? 'queued' : it.status);
export const shownWord = (it: Delivery) => (hasAccepted(it) ? t('delivery.inLine') : stateWord(it));
