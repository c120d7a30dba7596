import { addWords } from '../words';

// The questions before something is done with a delivery.
export const questions = {
  'confirm.changed': 'This delivery changed meanwhile. It is now “{status}”.',
  'confirm.over.stop': 'Can no longer be stopped',
  'confirm.over.reopen': 'Can no longer be reopened',
  'confirm.over.byHand': 'Can no longer be marked',
  'confirm.over.revoke': 'Can no longer be taken back',
  'confirm.over.instead': 'Can no longer be sent',
  'confirm.stop.title': 'Stop this delivery?',
  'confirm.stop.body': 'Nothing more of order {order} is shared. {reason}',
  'confirm.stop.body.told': 'Your shop is told not to complete it, with this reason:',
  'confirm.stop.completed': 'The buyer keeps what was shared of order {order}, and nothing more is shared. {reason}',
  'confirm.stop.completed.told': 'Your shop is told that it is stopped, with this reason:',
  'confirm.stop.kept': 'The delivery keeps this reason:',
  'confirm.stop.reason': 'Reason',
  'confirm.stop.button': 'Stop delivery',
  'confirm.reopen.title': 'Put order {order} back in review?',
  'confirm.reopen.body': 'Nothing is sent until you approve it.',
  'confirm.reopen.kept': 'The buyer keeps {presets}.',
  'confirm.reopen.button': 'Reopen',
  'confirm.byHand.title': 'Delivered by hand?',
  'confirm.byHand.body': {
    one: '{count} preset counts as delivered. No credit is spent.',
    other: '{count} presets count as delivered. No credit is spent.',
  },
  'confirm.byHand.none': 'The order counts as complete.',
  'confirm.byHand.told': 'Your shop is told that the order is complete.',
  'confirm.byHand.noneTold': 'The order counts as complete. Your shop is told so.',
  'confirm.byHand.button': 'Mark as delivered',
  'confirm.revoke.title': {
    one: 'Take {preset} back from {buyer}?',
    other: 'Take {count} presets back from {buyer}?',
  },
  'confirm.revoke.body': {
    one: 'The buyer can no longer load it. Credits are not returned.',
    other: 'The buyer can no longer load them. Credits are not returned.',
  },
  'confirm.revoke.more': '{n} more',
  'confirm.revoke.other': 'A preset that another order of the buyer has too stays with them.',
  'confirm.revoke.paid':
    'Presets of products that are still paid for are taken back too. To take one back alone, use the arrow beside it under “Presets”.',
  'confirm.revoke.button': 'Take back',
  'confirm.retryShared.title': 'Send it to {buyer} instead?',
  'confirm.retryShared.body': '{old} keeps {kept}. {buyer} needs {presets}: {credits}.',
  'confirm.retryShared.test': '{old} keeps {kept}. {buyer} needs {presets}. It is a test: no credit is spent.',
  'confirm.retryShared.button': 'Send to {buyer}',
  'confirm.newLink.title': 'Make a new order page link?',
  'confirm.newLink.body': 'The link that the buyer has now stops working.',
  'confirm.newLink.button': 'Make and copy',
} as const;

addWords(questions);
