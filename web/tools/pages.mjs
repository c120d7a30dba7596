// The pages of the dashboard and of the buyer, one entry each. Each is pictured in light and dark at every width, and judged by axe-core.
//   path      the address, or a function of the demonstration's ids (demo/story.mjs: `made`)
//   as        who opens it: an account of the demonstration (sam if not given), ann (a member of it), a new account (beginners.mjs), or nobody
//   presses   controls that are pressed there, one after the other: "role:name", or typed: "fill:field=text", or given: "file:field=content", or a
//             key: "key:Control+k"; a dialog or menu is open after the last one
//   stays     the presses open nothing; with `floats`, no dialog and no menu, but a list that stands over the page
//   answers   answers of the service that are replaced there, by "METHOD /path" (presses.mjs), for states that the demonstration lacks
//   later     answers that are replaced once the page is drawn
//   expected  messages that the console may have then
//   readme    the README shows it at this width
//   states    it reads from the service, so it has the states below
//   framed    it has no reads beside those of the frame, which are never made to fail
//   wide      only where there is room; narrow: only where there is not
const SELECTED = ['checkbox:Select all rows of this page'];
const MEMBER = 'ann@marlowtones.example';
const BUYER = 'earlybird@posteo.example';
// Signs in with a wrong password.
const SIGN = [`fill:E-mail=${MEMBER}`, 'fill:/^Password/=not the password'];
const config = (changes) => ({ 'GET /api/auth/config': (said) => ({ ...said, ...changes }) });
const ISSUERS = [
  { id: 'studio', name: 'Studio Login', startUrl: '/api/auth/external/studio' },
  { id: 'club', name: 'Tone Club', startUrl: '/api/auth/external/club' },
];
const cloud = {
  name: 'Tone Cloud',
  friendRequestsUrl: 'https://cloud.example/requests',
  appUrl: 'https://cloud.example/app',
};
const givenBefore = (username) => (said) => ({
  ...said,
  items: said.items.flatMap((one) => [one, { ...one, id: one.id.replace(/.$/, '0'), username, former: true }]),
});
// The token of a sign-in of long ago. The page alone reads it: the service refuses it.
const signedInLongAgo = (said) => {
  const [head, claims, signature] = said.idToken.split('.');
  const changed = { ...JSON.parse(Buffer.from(claims, 'base64url').toString()), auth_time: 0 };
  return {
    ...said,
    idToken: [head, Buffer.from(JSON.stringify(changed)).toString('base64url'), signature].join('.'),
  };
};
const buyer = (name, link, changes = {}, rest = {}) => ({
  name: `buyer-${name}`,
  path: ({ buyerLinks }) => `/p${buyerLinks[link]}`,
  as: 'nobody',
  answers: { 'GET /api/buyer': (said) => ({ ...said, cloud, ...changes }) },
  ...rest,
});

export const pages = [
  { name: 'sign-in', path: '/sign-in', as: 'nobody' },
  { name: 'sign-in-wrong', path: '/sign-in', as: 'nobody', presses: [...SIGN, 'button:/^Sign in$/'], stays: true },
  {
    name: 'sign-in-locked',
    path: '/sign-in',
    as: 'nobody',
    presses: [...SIGN, 'button:/^Sign in$/'],
    stays: true,
    answers: { 'POST /api/auth/sign-in': [429, 'RATE_LIMIT_EXCEEDED', { 'retry-after': '120' }] },
    expected: /status of 429/,
  },
  { name: 'sign-in-issuers', path: '/sign-in', as: 'nobody', answers: config({ issuers: ISSUERS }) },
  {
    name: 'sign-in-issuers-only',
    path: '/sign-in',
    as: 'nobody',
    answers: config({ issuers: ISSUERS, passwords: false }),
  },
  { name: 'sign-up', path: '/sign-up', as: 'nobody' },
  { name: 'sign-up-closed', path: '/sign-up', as: 'nobody', answers: config({ signup: 'closed' }) },
  {
    name: 'sign-up-taken',
    path: '/sign-up',
    as: 'nobody',
    presses: [
      'fill:Shop name=Marlow Tone Co.',
      `fill:E-mail=${MEMBER}`,
      'fill:/^Password/=a long password',
      'button:Create account',
    ],
    stays: true,
  },
  { name: 'sign-in-mail', path: '/sign-in', as: 'nobody', answers: config({ mail: true }) },
  { name: 'reset', path: '/reset', as: 'nobody', answers: config({ mail: true }) },
  { name: 'reset-off', path: '/reset', as: 'nobody' },
  {
    name: 'reset-too-often',
    path: '/reset',
    as: 'nobody',
    answers: {
      ...config({ mail: true }),
      'POST /api/auth/password-reset': [429, 'RATE_LIMIT_EXCEEDED', { 'retry-after': '120' }],
    },
    presses: [`fill:E-mail=${MEMBER}`, 'button:Send the link'],
    stays: true,
    expected: /status of 429/,
  },
  { name: 'reset-new', path: '/reset#AY3kZ0aBcDeFgHiJkLmNoPqRsTuVwXyZ', as: 'nobody' },
  {
    name: 'reset-gone',
    path: '/reset#AY3kZ0aBcDeFgHiJkLmNoPqRsTuVwXyZ',
    as: 'nobody',
    answers: { 'POST /api/auth/password-reset/confirm': [404, 'LINK_INVALID'] },
    presses: ['fill:/^New password/=a long password', 'button:Set password'],
    stays: true,
  },
  { name: 'verify', path: '/verify#AY3kZ0aBcDeFgHiJkLmNoPqRsTuVwXyZ', as: 'nobody' },
  {
    name: 'verify-gone',
    path: '/verify#AY3kZ0aBcDeFgHiJkLmNoPqRsTuVwXyZ',
    as: 'nobody',
    answers: { 'POST /api/auth/verify': [404, 'LINK_INVALID'] },
    presses: ['button:/^Confirm$/'],
    stays: true,
  },
  { name: 'verify-again', path: '/verify', as: 'nobody' },
  { name: 'missing', path: '/no/such/page' },
  { name: 'invite', path: ({ invitation }) => `/invite#${invitation}`, as: 'nobody' },
  { name: 'invite-gone', path: '/invite#pdb_invite_of-long-ago', as: 'nobody' },
  { name: 'invite-again', path: '/invite', as: 'nobody' },
  { name: 'invite-signed-in', path: ({ invitation }) => `/invite#${invitation}` },

  ...[1, 2, 3, 4, 5].map((step, done) => ({
    name: `start-${step}`,
    path: '/start',
    as: ['quiet', 'login', 'heard', 'matched', 'tested'][done],
    states: step === 1,
  })),
  { name: 'start-gift', path: '/start', as: 'tested', presses: ['button:Deliver a preset to a friend'] },
  { name: 'confirmed', path: '/confirmed' },
  {
    name: 'confirmed-not',
    path: '/confirmed',
    answers: { 'POST /api/auth/refresh': signedInLongAgo },
    expected: /status of 401/,
  },
  { name: 'signed-in', path: '/signed-in' },
  { name: 'start-2-listening', path: '/start', as: 'listening' },
  { name: 'start-no-login', path: '/start', as: 'nova' },
  { name: 'start-done', path: '/start' },

  { name: 'deliveries', path: '/deliveries', states: true },
  { name: 'deliveries-need-you', path: '/deliveries?view=needs' },
  { name: 'deliveries-grouped', path: '/deliveries?view=needs&group=problem', states: true },
  { name: 'deliveries-none-match', path: '/deliveries?q=nobody-of-that-name' },
  { name: 'deliveries-empty', path: '/deliveries', as: 'quiet' },
  { name: 'deliveries-filter', path: '/deliveries', presses: ['button:Filter', 'menuitem:Problem'] },
  { name: 'deliveries-actions', path: '/deliveries?status=failed', presses: SELECTED, stays: true },
  { name: 'deliveries-retry', path: '/deliveries?status=failed', presses: [...SELECTED, 'button:/^Retry \\d/'] },
  { name: 'deliveries-approve', path: '/deliveries?status=in_review', presses: [...SELECTED, 'button:/^Approve \\d/'] },
  { name: 'deliveries-stop', path: '/deliveries?view=waiting', presses: [...SELECTED, 'button:Stop…'] },
  { name: 'deliveries-view', path: '/deliveries?status=failed', presses: ['button:Save view'] },
  { name: 'palette', path: '/deliveries', presses: ['key:Control+k'] },
  { name: 'palette-found', path: '/deliveries', presses: ['key:Control+k', 'type:tweed'] },
  { name: 'palette-none', path: '/deliveries', presses: ['key:Control+k', 'type:zzzz'] },
  {
    name: 'confirm-it-is-you',
    path: '/account/people',
    later: { 'POST /api/invitations': [403, 'STEP_UP_REQUIRED'] },
    presses: ['button:Invite somebody', 'button:Make the link'],
  },
  {
    name: 'signed-out-meanwhile',
    path: '/deliveries',
    later: { 'GET /api/orders': [401, 'UNAUTHORIZED'], 'POST /api/auth/refresh': [401, 'UNAUTHORIZED'] },
    presses: ['link:Orders'],
    wide: true,
  },
  { name: 'person-menu', path: '/deliveries', presses: ['button:/@/'], wide: true },
  { name: 'shortcuts', path: '/deliveries', presses: ['button:/@/', 'menuitem:Keyboard shortcuts'], wide: true },
  { name: 'menu', path: '/deliveries', presses: ['button:Open the menu'], narrow: true },

  ...[
    'username_missing',
    'username_not_found',
    'friend_request_declined',
    'friendship_timeout',
    'blocked_by_customer',
    'preset_not_found',
    'preset_not_shareable',
    'cloud_unavailable',
    'cloud_rejected',
    'order_too_large',
  ].map((code) => ({
    name: `delivery-${code}`,
    path: of('/deliveries/', code),
    readme: code === 'username_not_found' ? 1440 : undefined,
  })),
  { name: 'delivery-credentials_missing', path: of('/deliveries/', 'credentials_missing'), as: 'nova' },
  { name: 'delivery-credentials_invalid', path: of('/deliveries/', 'credentials_invalid'), as: 'riley' },
  { name: 'delivery-insufficient_credits', path: of('/deliveries/', 'insufficient_credits'), as: 'pat' },
  { name: 'delivery-waiting', path: of('/deliveries/', 'waiting'), states: true },
  {
    name: 'delivery-queued',
    path: of('/deliveries/', 'waiting'),
    answers: {
      'GET /api/deliveries/*': (said) => ({ ...said, status: 'queued', waitingSince: null, queuePosition: 1 }),
    },
  },
  { name: 'delivery-held', path: of('/deliveries/', 'in_review') },
  { name: 'delivery-reopened', path: of('/deliveries/', 'reopened') },
  { name: 'delivery-high-risk', path: of('/deliveries/', 'high_risk') },
  { name: 'delivery-stopped', path: of('/deliveries/', 'invalidated') },
  { name: 'delivery-completed', path: of('/deliveries/', 'refunded') },
  { name: 'delivery-unknown', path: '/deliveries/del_0a1b2c3d4e5f6' },
  { name: 'delivery-menu', path: of('/deliveries/', 'waiting'), presses: ['button:More'] },
  {
    name: 'delivery-by-hand',
    path: of('/deliveries/', 'waiting'),
    presses: ['button:More', 'menuitem:Mark as delivered by hand…'],
  },
  {
    name: 'delivery-link',
    path: of('/deliveries/', 'waiting'),
    presses: ['button:More', 'menuitem:Make a new order page link…'],
  },
  { name: 'delivery-reopen', path: of('/deliveries/', 'invalidated'), presses: ['button:Reopen'] },
  {
    name: 'delivery-take-back',
    path: of('/deliveries/', 'reopened'),
    presses: ['button:More', 'menuitem:/^Take presets back/'],
  },
  {
    name: 'delivery-take-back-former',
    path: of('/deliveries/', 'reopened'),
    answers: { 'GET /api/deliveries/*': givenBefore('reopened_robb') },
    presses: ['button:Take back…'],
  },
  { name: 'delivery-stop', path: of('/deliveries/', 'waiting'), presses: ['button:More', 'menuitem:Stop delivery…'] },
  {
    name: 'delivery-reopen-completed',
    path: of('/deliveries/', 'refunded'),
    presses: ['button:More', 'menuitem:Reopen…'],
  },
  { name: 'delivery-rename', path: of('/deliveries/', 'waiting'), presses: ['button:Change username'], stays: true },

  { name: 'overview', path: '/', states: true, readme: 1440 },
  { name: 'overview-90-days', path: '/?period=90d', narrow: true },
  { name: 'overview-first-day', path: '/', as: 'later' },
  { name: 'overview-half-way', path: '/', as: 'nova' },
  { name: 'overview-login-refused', path: '/', as: 'riley' },
  { name: 'overview-today', path: '/?period=today' },
  { name: 'overview-table', path: '/', presses: ['button:Show as table'], stays: true },
  { name: 'orders', path: '/orders', states: true },
  { name: 'orders-empty', path: '/orders', as: 'quiet' },
  { name: 'orders-none-match', path: '/orders?q=nobody-of-that-name' },
  {
    name: 'orders-again',
    path: '/orders?view=unmapped',
    presses: ['button:Process again…'],
  },
  { name: 'order', path: ({ orders }) => `/orders/${orders.delivery}`, states: true },
  ...['no_mapped_items', 'awaiting_payment', 'stopped', 'inactive'].map((outcome) => ({
    name: `order-${outcome}`,
    path: ({ orders }) => `/orders/${orders[outcome]}`,
  })),
  { name: 'order-unmapped', path: ({ orders }) => `/orders/${orders.unmapped}` },
  { name: 'order-unknown', path: '/orders/ord_0a1b2c3d4e5f6' },
  { name: 'presets', path: '/presets', states: true },
  { name: 'presets-empty', path: '/presets', as: 'nova' },
  { name: 'presets-none-match', path: '/presets?q=nothing-of-that-name' },
  { name: 'preset', path: ({ preset }) => `/presets/${preset}`, states: true },
  { name: 'preset-gone', path: '/presets/lofi-bedroom-di' },
  { name: 'preset-unused', path: '/presets/tone-club-october' },
  { name: 'usage', path: '/usage', states: true },
  { name: 'usage-empty', path: '/usage', as: 'later' },
  {
    name: 'usage-too-often',
    path: '/usage',
    answers: { 'GET /api/usage': [429, 'RATE_LIMIT_EXCEEDED', { 'retry-after': '90' }] },
    expected: /status of 429/,
  },

  { name: 'integrations', path: '/integrations', states: true },
  { name: 'stores', path: '/integrations/stores', states: true },
  { name: 'stores-empty', path: '/integrations/stores', as: 'quiet' },
  { name: 'store-new', path: '/integrations/stores/new' },
  {
    name: 'store-new-guide',
    path: ({ begun }) => `/integrations/stores/new?store=${begun.listening.id}`,
    as: 'listening',
  },
  { name: 'store-products', path: ({ stores }) => `/integrations/stores/${stores.shop.id}/products`, states: true },
  {
    name: 'store-products-picker',
    path: ({ stores }) => `/integrations/stores/${stores.shop.id}/products`,
    presses: ['button:Choose presets'],
    stays: true,
    floats: true,
  },
  {
    name: 'store-products-empty',
    path: ({ begun }) => `/integrations/stores/${begun.listening.id}/products`,
    as: 'listening',
  },
  { name: 'store-connection-plugin', path: ({ stores }) => `/integrations/stores/${stores.eu.id}/connection` },
  { name: 'store-connection-own', path: ({ stores }) => `/integrations/stores/${stores.club.id}/connection` },
  { name: 'store-unknown', path: '/integrations/stores/int_0a1b2c3d4e5f6/products' },
  {
    name: 'store-add-product',
    path: ({ stores }) => `/integrations/stores/${stores.shop.id}/products`,
    presses: ['button:Add product'],
  },
  {
    name: 'store-import',
    path: ({ stores }) => `/integrations/stores/${stores.shop.id}/products`,
    presses: ['file:CSV file=matchType,matchValue,fileId\nsku,TWEED-59,nothing-of-ours\nwrong,x,y\n'],
  },
  {
    name: 'store-leave',
    path: ({ stores }) => `/integrations/stores/${stores.shop.id}/settings`,
    presses: ['fill:Name=Another name', 'link:Orders'],
    wide: true,
  },
  {
    name: 'store-test-order',
    path: ({ stores }) => `/integrations/stores/${stores.shop.id}/settings`,
    presses: ['button:Send a test order'],
  },
  {
    name: 'store-archive',
    path: ({ stores }) => `/integrations/stores/${stores.shop.id}/settings`,
    presses: ['button:Archive store…'],
  },
  {
    name: 'store-rotate',
    path: ({ stores }) => `/integrations/stores/${stores.club.id}/connection`,
    presses: ['button:Rotate…'],
  },
  {
    name: 'store-own-secret',
    path: ({ stores }) => `/integrations/stores/${stores.shop.id}/connection`,
    presses: ['button:Enter the shop’s own…'],
  },
  { name: 'store-deliveries', path: ({ stores }) => `/integrations/stores/${stores.shop.id}/deliveries`, states: true },
  { name: 'store-connection', path: ({ stores }) => `/integrations/stores/${stores.shop.id}/connection`, states: true },
  { name: 'store-settings', path: ({ stores }) => `/integrations/stores/${stores.shop.id}/settings`, states: true },
  {
    name: 'store-settings-require',
    path: ({ stores }) => `/integrations/stores/${stores.shop.id}/settings`,
    presses: ['switch:/^Require a token/', 'button:Save'],
  },
  {
    name: 'store-settings-token',
    path: ({ stores }) => `/integrations/stores/${stores.shop.id}/settings`,
    answers: {
      'GET /api/integrations/*': (said) => ({ ...said, settings: { ...said.settings, requireApiKey: true } }),
    },
  },

  { name: 'webhooks', path: '/integrations/webhooks', states: true },
  { name: 'webhooks-empty', path: '/integrations/webhooks', as: 'quiet' },
  { name: 'webhook-new', path: '/integrations/webhooks', presses: ['button:Add a webhook'] },
  ...['good', 'ill', 'off', 'gone'].map((name) => ({
    name: `webhook-${name}`,
    path: ({ subscriptions }) => `/integrations/webhooks/${subscriptions[name]}`,
    states: name === 'ill',
  })),
  {
    name: 'webhook-resumed',
    path: ({ subscriptions }) => `/integrations/webhooks/${subscriptions.ill}`,
    answers: { 'GET /api/webhook-subscriptions/*': (said) => ({ ...said, failingSince: null }) },
  },

  {
    name: 'webhook-rotate',
    path: ({ subscriptions }) => `/integrations/webhooks/${subscriptions.good}`,
    presses: ['button:Rotate secret'],
    wide: true,
  },
  ...[
    ['change', 'Change…'],
    ['recover', 'Send failed events again…'],
    ['switch-off', 'Turn off…'],
    ['delete', 'Delete…'],
  ].map(([name, item]) => ({
    name: `webhook-${name}`,
    path: ({ subscriptions }) => `/integrations/webhooks/${subscriptions.good}`,
    presses: ['button:More', `menuitem:${item}`],
  })),

  { name: 'cloud', path: '/cloud', states: true },
  { name: 'cloud-none', path: '/cloud', as: 'nova' },
  { name: 'cloud-refused', path: '/cloud', as: 'riley' },
  { name: 'cloud-delete', path: '/cloud', presses: ['button:Delete login…'] },
  { name: 'credits', path: '/credits', states: true },
  { name: 'credits-empty', path: '/credits', as: 'quiet' },
  { name: 'keys', path: '/keys', states: true },
  { name: 'keys-empty', path: '/keys', as: 'quiet' },
  { name: 'key', path: ({ keys }) => `/keys/${keys.site}`, states: true },
  { name: 'key-inactive', path: ({ keys }) => `/keys/${keys.old}` },
  { name: 'key-actions', path: '/keys', presses: ['button:Actions of Phone widget'] },
  ...[
    ['rename', 'Rename…'],
    ['rotate', 'Rotate…'],
    ['deactivate', 'Deactivate…'],
  ].map(([name, item]) => ({
    name: `key-${name}`,
    path: ({ keys }) => `/keys/${keys.site}`,
    presses: ['button:/^Actions/', `menuitem:${item}`],
  })),
  { name: 'credits-out', path: '/credits', as: 'pat' },
  { name: 'credits-return', path: '/credits/return?purchase=pur_0a1b2c3d4e5f6' },
  { name: 'payment-none', path: '/credits/return' },
  {
    name: 'payment-paid',
    path: ({ purchases }) => `/credits/return?purchase=${purchases.paid}`,
    states: true,
  },
  {
    name: 'payment-expired',
    path: ({ purchases }) => `/credits/return?purchase=${purchases.expired}`,
  },
  {
    name: 'payment-refunded',
    path: ({ purchases }) => `/credits/return?purchase=${purchases.refunded}`,
  },
  { name: 'payment-pending', path: ({ purchases }) => `/credits/return?purchase=${purchases.pending}`, as: 'pat' },
  { name: 'key-new', path: '/keys', presses: ['button:Create token'] },

  { name: 'profile', path: '/account/profile', states: true, framed: true },
  { name: 'profile-unconfirmed', path: '/account/profile', answers: config({ mail: true }) },
  { name: 'profile-delete', path: '/account/profile', presses: ['button:Delete account…'] },
  { name: 'people', path: '/account/people', states: true },
  { name: 'people-alone', path: '/account/people', as: 'quiet' },
  { name: 'people-invite', path: '/account/people', presses: ['button:Invite somebody'] },
  {
    name: 'people-link',
    path: '/account/people',
    presses: ['button:Invite somebody', 'fill:For whom=Kim, <b>mastering</b>', 'button:Make the link'],
  },
  { name: 'people-actions', path: '/account/people', presses: [`button:Actions of ${MEMBER}`] },
  {
    name: 'people-remove',
    path: '/account/people',
    presses: [`button:Actions of ${MEMBER}`, 'menuitem:Remove…'],
  },
  {
    name: 'people-leave',
    path: '/account/people',
    as: 'ann',
    presses: [`button:Actions of ${MEMBER}`, 'menuitem:Leave the account…'],
  },
  { name: 'sessions', path: '/account/sessions', states: true },
  { name: 'people-role', path: '/account/people', presses: [`button:Actions of ${MEMBER}`, 'menuitem:Make owner…'] },
  {
    name: 'people-revoke',
    path: '/account/people',
    presses: ['button:/^Revoke the invitation/'],
  },
  { name: 'sessions-everywhere', path: '/account/sessions', presses: ['button:Sign out everywhere'] },
  { name: 'sessions-others', path: '/account/sessions', presses: ['button:Sign out all others'] },
  { name: 'audit-entry', path: '/account/audit', presses: ['button:/^All of the entry/'] },
  { name: 'customers', path: '/account/customers', states: true },
  { name: 'customers-empty', path: '/account/customers', as: 'quiet' },
  { name: 'customers-all', path: '/account/customers?show=all' },
  { name: 'customers-close', path: '/account/customers', presses: ['button:/^Close the request/'] },
  {
    name: 'customers-found',
    path: '/account/customers',
    presses: [`fill:E-mail=${BUYER}`, 'button:Find'],
    stays: true,
  },
  {
    name: 'customers-nobody',
    path: '/account/customers',
    presses: ['fill:E-mail=nobody@x.example', 'button:Find'],
    stays: true,
  },
  {
    name: 'customers-erase',
    path: '/account/customers',
    presses: [`fill:E-mail=${BUYER}`, 'button:Find', 'button:Erase…'],
  },
  { name: 'audit', path: '/account/audit', states: true },
  { name: 'audit-filtered', path: '/account/audit?action=sign_in.failed' },
  { name: 'audit-none-match', path: '/account/audit?actor=system&action=api_key.' },

  // These leave something behind each time: a token, a webhook, a secret.
  {
    name: 'key-made',
    path: '/keys',
    presses: ['button:Create token', 'fill:Name=Kiosk', 'button:/^Create token$/:last'],
  },
  {
    name: 'webhook-made',
    path: '/integrations/webhooks',
    as: 'tested',
    presses: [
      'button:Add a webhook',
      'fill:Webhook URL=https://hooks.quietamps.example/presets',
      'button:/^Add webhook$/:last',
    ],
  },
  {
    name: 'store-rotated',
    path: ({ stores }) => `/integrations/stores/${stores.club.id}/connection`,
    presses: ['button:Rotate…', 'button:Rotate:last'],
  },

  buyer('on-its-way', 'in_review', { state: 'on_its_way' }),
  buyer('username-missing', 'username_missing'),
  buyer('username-not-found', 'username_not_found'),
  buyer('accept-request', 'waiting', {}, { states: true, readme: 390 }),
  buyer('accept-request-change', 'waiting', {}, { presses: ['button:Not you?'], stays: true }),
  buyer(
    'accept-request-ask',
    'waiting',
    {},
    { presses: ['button:Not you?', 'fill:Your cloud username=jen', 'button:Change username'], stays: true },
  ),
  buyer('declined', 'friend_request_declined'),
  buyer('no-answer', 'friendship_timeout'),
  buyer('blocked', 'blocked_by_customer'),
  buyer('delivered', 'refunded'),
  buyer('delayed', 'preset_not_found'),
  buyer('closed', 'invalidated'),
  buyer(
    'too-often',
    'waiting',
    {},
    {
      answers: { 'GET /api/buyer': [429, 'RATE_LIMIT_EXCEEDED', { 'retry-after': '30' }] },
      expected: /status of 429/,
    },
  ),
  { name: 'buyer-link-gone', path: '/p#nothing', as: 'nobody' },

  ...[
    '/',
    '/account/profile',
    '/account/people',
    '/account/customers',
    '/account/audit',
    '/keys',
    '/cloud',
    '/credits',
  ].map((path) => ({ name: `member-${path.split('/').at(-1) || 'overview'}`, path, as: 'ann' })),
];

function of(prefix, what) {
  return (made) => prefix + made[what];
}

// The states of a page's reads.
export const states = ['loading', 'error', 'stale', 'offline'];
