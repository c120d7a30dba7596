import { addWords } from '../words';

export const bulk = {
  'bulk.bar': 'What is selected',
  'bulk.selected': { one: '{count} selected', other: '{count} selected' },
  'bulk.allSelected': { one: 'The one that matches is selected', other: 'All {count} that match are selected' },
  'bulk.allMany': 'All that match are selected, more than {count}',
  'bulk.selectAll': 'Select all {count}',
  'bulk.selectAllMany': 'Select all that match',
  'bulk.asOf': 'as of {time}',
  'bulk.fixFirst': { one: '{count} needs a fix first', other: '{count} need a fix first' },
  'bulk.single': { one: '{count} to be approved on its own page', other: '{count} to be approved on their own pages' },
  'bulk.neither': {
    one: '{count} can be neither retried nor approved',
    other: '{count} can be neither retried nor approved',
  },
  'bulk.tooLarge': {
    one: '{count} too large to deliver by itself',
    other: '{count} too large to deliver by themselves',
  },
  'bulk.clear': 'Clear',
  'bulk.counting': 'Counting…',
  'bulk.uncounted': 'Retries and approvals could not be counted.',
  'bulk.uncounted.retry': 'Retries could not be counted.',
  'bulk.uncounted.approve': 'Approvals could not be counted.',
  'bulk.retry': 'Retry {n}',
  'bulk.approve': 'Approve {n}',
  'bulk.stop': 'Stop…',
  'bulk.what': 'What this would do',

  'bulk.ask.retry': { one: 'Retry {count} delivery?', other: 'Retry {count} deliveries?' },
  'bulk.ask.approve': { one: 'Approve {count} delivery?', other: 'Approve {count} deliveries?' },
  'bulk.ask.invalidate': { one: 'Stop {count} delivery?', other: 'Stop {count} deliveries?' },
  'bulk.do.retry': 'Retry {n}',
  'bulk.do.approve': 'Approve {n}',
  'bulk.do.invalidate': 'Stop {n}',
  'bulk.none.retry': 'None of them can be retried as they are.',
  'bulk.none.approve': 'None of them waits for your approval.',
  'bulk.none.invalidate': 'None of them can be stopped any more.',
  'bulk.time': 'The cloud limit is {perMinute} a minute, so they take about {time} once it is their turn.',
  'bulk.stopText':
    'Nothing more is shared, and buyers keep what was shared. The deliveries keep this reason. Your shop gets it where a webhook reports stopped deliveries.',
  'bulk.reason': 'Reason',
  'bulk.cost': {
    one: 'They cost at most {count} credit; you have {have}.',
    other: 'They cost at most {count} credits; you have {have}.',
  },
  'bulk.costMany': 'They may cost more than {count} credits; you have {have}.',
  'bulk.costNone': 'They cost no credits.',
  'bulk.costShort': 'The oldest go first. The rest fail for want of credits, and go on once you buy some.',
  'bulk.costBuy': 'Buy credits',
  'bulk.seldom': {
    one: 'a retry alone seldom helps {count}',
    other: 'a retry alone seldom helps {count}',
  },
  'bulk.seldom.why': 'A retry alone seldom helps:',
  'bulk.seldom.unknown':
    'A retry alone seldom helps where the username was not found, a preset is missing or cannot be shared, or the buyer blocks you. It asks buyers who declined again.',
  'bulk.seldom.username_not_found': {
    one: '{count} whose username was not found: correct it first',
    other: '{count} whose usernames were not found: correct them first',
  },
  'bulk.seldom.preset_not_found': {
    one: '{count} whose preset is missing: pick another file first',
    other: '{count} whose presets are missing: pick other files first',
  },
  'bulk.seldom.preset_not_shareable': {
    one: '{count} whose preset cannot be shared: make it shareable first',
    other: '{count} whose presets cannot be shared: make them shareable first',
  },
  'bulk.seldom.blocked_by_customer': {
    one: '{count} whose buyer blocks you: ask the buyer first',
    other: '{count} whose buyers block you: ask the buyers first',
  },
  'bulk.declined': {
    one: 'It asks {count} buyer who declined again.',
    other: 'It asks {count} buyers who declined again.',
  },
  'bulk.more': 'More match than were counted. All that match are included.',
  'bulk.left': 'Left out:',
  'bulk.out.INVALID_TRANSITION.retry': { one: '{count} that has not failed', other: '{count} that have not failed' },
  'bulk.out.INVALID_TRANSITION.approve': {
    one: '{count} that is not in review, or too large to be shared',
    other: '{count} that are not in review, or too large to be shared',
  },
  'bulk.out.INVALID_TRANSITION.invalidate': {
    one: '{count} that is stopped already',
    other: '{count} that are stopped already',
  },
  'bulk.out.marked': {
    one: '{count} that is too large to deliver by itself: open it and mark it there',
    other: '{count} that are too large to deliver by themselves: open each and mark it there',
  },
  'bulk.out.NOT_FOUND': { one: '{count} that is not there any more', other: '{count} that are not there any more' },
  'bulk.out.username_missing': {
    one: '{count} that needs a username first',
    other: '{count} that need a username first',
  },
  'bulk.out.credentials_missing': {
    one: '{count} that waits for a cloud login, and goes on by itself',
    other: '{count} that wait for a cloud login, and go on by themselves',
  },
  'bulk.out.credentials_invalid': {
    one: '{count} that waits for a cloud login that works, and goes on by itself',
    other: '{count} that wait for a cloud login that works, and go on by themselves',
  },
  'bulk.out.insufficient_credits': {
    one: '{count} that failed for want of credits, and goes on by itself',
    other: '{count} that failed for want of credits, and go on by themselves',
  },
  'bulk.out.high_risk': {
    one: '{count} that may be fraud: open it and approve it there',
    other: '{count} that may be fraud: open each and approve it there',
  },
  'bulk.out.payment_withdrawn': {
    one: '{count} whose payment was withdrawn: open it and approve it there',
    other: '{count} whose payment was withdrawn: open each and approve it there',
  },
  'bulk.out.too_large': {
    one: '{count} that is too large: open it and approve it there',
    other: '{count} that are too large: open each and approve it there',
  },
  'bulk.out.other': '{count}: {code}',

  'bulk.going.retry': { one: 'Retrying {count} delivery', other: 'Retrying {count} deliveries' },
  'bulk.going.approve': { one: 'Approving {count} delivery', other: 'Approving {count} deliveries' },
  'bulk.going.invalidate': { one: 'Stopping {count} delivery', other: 'Stopping {count} deliveries' },
  'bulk.done.retry': { one: '{count} queued again', other: '{count} queued again' },
  'bulk.done.approve': { one: '{count} approved', other: '{count} approved' },
  'bulk.done.invalidate': { one: '{count} stopped', other: '{count} stopped' },
  'bulk.refused': { one: '{count} refused', other: '{count} refused' },
  'bulk.both': '{done}, {refused}.',
  'bulk.alone': '{done}.',
  'bulk.fault': 'It ended before all were done: {fault}',
  'bulk.away': 'Its progress cannot be read right now. It goes on.',
  'bulk.show': 'Show them',
  'bulk.failures': 'What was refused',
  'bulk.failuresMore': { one: '{count} more is not listed.', other: '{count} more are not listed.' },
  'bulk.delivery': 'Delivery of {order}',

  'bulk.refusedAll': { one: 'Retry {count} refused delivery', other: 'Retry {count} refused deliveries' },
  'bulk.refusedAllMany': 'Retry all refused deliveries',
  'bulk.refusedWhy': 'All that {cloud} refused without a reason are retried.',
} as const;

addWords(bulk);
