// Every address and its page. The code of a page is loaded when the page is opened; that of the frame is in the first script.
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { SkeletonRows } from './components/States';
import { Broken } from './pages/missing/Broken';
import { NotFound } from './pages/missing/NotFound';
import { parseSearch, stringifySearch, type Search } from './pages/search';
import { Gate } from './session/Gate';

const validateSearch = (search: Record<string, unknown>): Search => search as Search;

const root = createRootRoute({
  component: Outlet,
  notFoundComponent: NotFound,
  errorComponent: Broken,
});
const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch,
  component: lazyRouteComponent(() => import('./pages/sign-in/SignIn'), 'SignIn'),
});
const signUp = createRoute({
  getParentRoute: () => root,
  path: '/sign-up',
  validateSearch,
  component: lazyRouteComponent(() => import('./pages/sign-in/SignUp'), 'SignUp'),
});
const invite = createRoute({
  getParentRoute: () => root,
  path: '/invite',
  validateSearch,
  component: lazyRouteComponent(() => import('./pages/invite/Invite'), 'Invite'),
});
const reset = createRoute({
  getParentRoute: () => root,
  path: '/reset',
  validateSearch,
  component: lazyRouteComponent(() => import('./pages/reset/Reset'), 'Reset'),
});
const verify = createRoute({
  getParentRoute: () => root,
  path: '/verify',
  validateSearch,
  component: lazyRouteComponent(() => import('./pages/verify/Verify'), 'Verify'),
});

const inside = createRoute({ getParentRoute: () => root, id: 'inside', component: Gate });
const signedIn = { getParentRoute: () => inside, validateSearch };
const home = createRoute({
  ...signedIn,
  path: '/',
  component: lazyRouteComponent(() => import('./pages/overview/Overview'), 'OverviewPage'),
});
const start = createRoute({
  ...signedIn,
  path: '/start',
  component: lazyRouteComponent(() => import('./pages/start/Start'), 'Start'),
});
const confirmed = createRoute({
  ...signedIn,
  path: '/confirmed',
  component: lazyRouteComponent(() => import('./pages/confirmed/Confirmed'), 'Confirmed'),
});
const cameBack = createRoute({
  ...signedIn,
  path: '/signed-in',
  component: lazyRouteComponent(() => import('./pages/confirmed/SignedIn'), 'SignedIn'),
});
const deliveries = createRoute({
  ...signedIn,
  path: '/deliveries',
  component: lazyRouteComponent(() => import('./pages/deliveries/Deliveries'), 'Deliveries'),
});
const delivery = createRoute({
  ...signedIn,
  path: '/deliveries/$id',
  component: lazyRouteComponent(() => import('./pages/delivery/Delivery'), 'DeliveryPage'),
});
const orders = createRoute({
  ...signedIn,
  path: '/orders',
  component: lazyRouteComponent(() => import('./pages/orders/Orders'), 'Orders'),
});
const order = createRoute({
  ...signedIn,
  path: '/orders/$id',
  component: lazyRouteComponent(() => import('./pages/order/Order'), 'OrderPage'),
});
const presets = createRoute({
  ...signedIn,
  path: '/presets',
  component: lazyRouteComponent(() => import('./pages/presets/Presets'), 'Presets'),
});
const preset = createRoute({
  ...signedIn,
  path: '/presets/$id',
  component: lazyRouteComponent(() => import('./pages/preset/Preset'), 'PresetPage'),
});
const usage = createRoute({
  ...signedIn,
  path: '/usage',
  component: lazyRouteComponent(() => import('./pages/usage/Usage'), 'UsagePage'),
});
const integrations = createRoute({
  ...signedIn,
  path: '/integrations',
  component: lazyRouteComponent(() => import('./pages/integrations/Integrations'), 'Integrations'),
});
const stores = createRoute({
  ...signedIn,
  path: '/integrations/stores',
  component: lazyRouteComponent(() => import('./pages/stores/Stores'), 'Stores'),
});
const newStore = createRoute({
  ...signedIn,
  path: '/integrations/stores/new',
  component: lazyRouteComponent(() => import('./pages/stores/NewStore'), 'NewStore'),
});
const store = createRoute({
  ...signedIn,
  path: '/integrations/stores/$id',
  component: lazyRouteComponent(() => import('./pages/store/Store'), 'StorePage'),
});
const storeTab = { getParentRoute: () => store, validateSearch };
const storeHome = createRoute({
  ...storeTab,
  path: '/',
  beforeLoad: ({ params }) => {
    throw redirect({ to: '/integrations/stores/$id/products', params, search: {}, replace: true });
  },
});
const storeProducts = createRoute({
  ...storeTab,
  path: 'products',
  component: lazyRouteComponent(() => import('./pages/store/products/Products'), 'Products'),
});
const storeDeliveries = createRoute({
  ...storeTab,
  path: 'deliveries',
  component: lazyRouteComponent(() => import('./pages/store/StoreDeliveries'), 'StoreDeliveries'),
});
const storeConnection = createRoute({
  ...storeTab,
  path: 'connection',
  component: lazyRouteComponent(() => import('./pages/store/Connection'), 'Connection'),
});
const storeSettings = createRoute({
  ...storeTab,
  path: 'settings',
  component: lazyRouteComponent(() => import('./pages/store/Settings'), 'Settings'),
});
const webhooks = createRoute({
  ...signedIn,
  path: '/integrations/webhooks',
  component: lazyRouteComponent(() => import('./pages/webhooks/Webhooks'), 'Webhooks'),
});
const webhook = createRoute({
  ...signedIn,
  path: '/integrations/webhooks/$id',
  component: lazyRouteComponent(() => import('./pages/webhook/Webhook'), 'WebhookPage'),
});
const cloud = createRoute({
  ...signedIn,
  path: '/cloud',
  component: lazyRouteComponent(() => import('./pages/cloud/Cloud'), 'Cloud'),
});
const credits = createRoute({
  ...signedIn,
  path: '/credits',
  component: lazyRouteComponent(() => import('./pages/credits/Credits'), 'Credits'),
});
const paymentReturn = createRoute({
  ...signedIn,
  path: '/credits/return',
  component: lazyRouteComponent(() => import('./pages/credits/Return'), 'PaymentReturn'),
});
const account = createRoute({
  ...signedIn,
  path: '/account',
  beforeLoad: () => {
    throw redirect({ to: '/account/profile', search: {}, replace: true });
  },
});
const accountProfile = createRoute({
  ...signedIn,
  path: '/account/profile',
  component: lazyRouteComponent(() => import('./pages/account/Profile'), 'Profile'),
});
const accountPeople = createRoute({
  ...signedIn,
  path: '/account/people',
  component: lazyRouteComponent(() => import('./pages/people/People'), 'People'),
});
const accountCustomers = createRoute({
  ...signedIn,
  path: '/account/customers',
  component: lazyRouteComponent(() => import('./pages/customers/Customers'), 'Customers'),
});
const accountSessions = createRoute({
  ...signedIn,
  path: '/account/sessions',
  component: lazyRouteComponent(() => import('./pages/account/Sessions'), 'Sessions'),
});
const accountAudit = createRoute({
  ...signedIn,
  path: '/account/audit',
  component: lazyRouteComponent(() => import('./pages/account/Audit'), 'Audit'),
});
const keys = createRoute({
  ...signedIn,
  path: '/keys',
  component: lazyRouteComponent(() => import('./pages/keys/Keys'), 'Keys'),
});
const key = createRoute({
  ...signedIn,
  path: '/keys/$id',
  component: lazyRouteComponent(() => import('./pages/key/Key'), 'KeyPage'),
});

const routeTree = root.addChildren([
  signIn,
  signUp,
  invite,
  reset,
  verify,
  inside.addChildren([
    home,
    start,
    confirmed,
    cameBack,
    deliveries,
    delivery,
    orders,
    order,
    presets,
    preset,
    usage,
    integrations,
    stores,
    newStore,
    store.addChildren([storeHome, storeProducts, storeDeliveries, storeConnection, storeSettings]),
    webhooks,
    webhook,
    cloud,
    credits,
    paymentReturn,
    account,
    accountProfile,
    accountPeople,
    accountCustomers,
    accountSessions,
    accountAudit,
    keys,
    key,
  ]),
]);

export const router = createRouter({
  routeTree,
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  defaultPendingMs: 150,
  defaultPendingComponent: () => <SkeletonRows />,
  defaultErrorComponent: Broken,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
