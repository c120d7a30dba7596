// Every address and its page. A page is loaded when it is opened; the frame is in the first script.
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
import { Missing } from './pages/missing/Missing';
import { parseSearch, stringifySearch, type Search } from './pages/search';
import { Gate } from './session/Gate';

const validateSearch = (search: Record<string, unknown>): Search => search as Search;

const root = createRootRoute({
  component: Outlet,
  notFoundComponent: () => (
    <main>
      <Missing />
    </main>
  ),
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

const inside = createRoute({ getParentRoute: () => root, id: 'inside', component: Gate });
const within = { getParentRoute: () => inside, validateSearch };
const home = createRoute({
  ...within,
  path: '/',
  component: lazyRouteComponent(() => import('./pages/overview/Overview'), 'OverviewPage'),
});
const start = createRoute({
  ...within,
  path: '/start',
  component: lazyRouteComponent(() => import('./pages/start/Start'), 'Start'),
});
const deliveries = createRoute({
  ...within,
  path: '/deliveries',
  component: lazyRouteComponent(() => import('./pages/deliveries/Deliveries'), 'Deliveries'),
});
const delivery = createRoute({
  ...within,
  path: '/deliveries/$id',
  component: lazyRouteComponent(() => import('./pages/delivery/Delivery'), 'DeliveryPage'),
});
const orders = createRoute({
  ...within,
  path: '/orders',
  component: lazyRouteComponent(() => import('./pages/orders/Orders'), 'Orders'),
});
const order = createRoute({
  ...within,
  path: '/orders/$id',
  component: lazyRouteComponent(() => import('./pages/order/Order'), 'OrderPage'),
});
const presets = createRoute({
  ...within,
  path: '/presets',
  component: lazyRouteComponent(() => import('./pages/presets/Presets'), 'Presets'),
});
const preset = createRoute({
  ...within,
  path: '/presets/$id',
  component: lazyRouteComponent(() => import('./pages/preset/Preset'), 'PresetPage'),
});
const usage = createRoute({
  ...within,
  path: '/usage',
  component: lazyRouteComponent(() => import('./pages/usage/Usage'), 'UsagePage'),
});
const integrations = createRoute({
  ...within,
  path: '/integrations',
  component: lazyRouteComponent(() => import('./pages/integrations/Integrations'), 'Integrations'),
});
const stores = createRoute({
  ...within,
  path: '/integrations/stores',
  component: lazyRouteComponent(() => import('./pages/stores/Stores'), 'Stores'),
});
const newStore = createRoute({
  ...within,
  path: '/integrations/stores/new',
  component: lazyRouteComponent(() => import('./pages/stores/NewStore'), 'NewStore'),
});
const store = createRoute({
  ...within,
  path: '/integrations/stores/$id',
  component: lazyRouteComponent(() => import('./pages/store/Store'), 'StorePage'),
});
const ofStore = { getParentRoute: () => store, validateSearch };
const storeHome = createRoute({
  ...ofStore,
  path: '/',
  beforeLoad: ({ params }) => {
    throw redirect({ to: '/integrations/stores/$id/products', params, search: {}, replace: true });
  },
});
const storeProducts = createRoute({
  ...ofStore,
  path: 'products',
  component: lazyRouteComponent(() => import('./pages/store/products/Products'), 'Products'),
});
const storeDeliveries = createRoute({
  ...ofStore,
  path: 'deliveries',
  component: lazyRouteComponent(() => import('./pages/store/StoreDeliveries'), 'StoreDeliveries'),
});
const storeConnection = createRoute({
  ...ofStore,
  path: 'connection',
  component: lazyRouteComponent(() => import('./pages/store/Connection'), 'Connection'),
});
const storeSettings = createRoute({
  ...ofStore,
  path: 'settings',
  component: lazyRouteComponent(() => import('./pages/store/Settings'), 'Settings'),
});
const webhooks = createRoute({
  ...within,
  path: '/integrations/webhooks',
  component: lazyRouteComponent(() => import('./pages/webhooks/Webhooks'), 'Webhooks'),
});
const webhook = createRoute({
  ...within,
  path: '/integrations/webhooks/$id',
  component: lazyRouteComponent(() => import('./pages/webhook/Webhook'), 'WebhookPage'),
});
const cloud = createRoute({
  ...within,
  path: '/cloud',
  component: lazyRouteComponent(() => import('./pages/cloud/Cloud'), 'Cloud'),
});
const credits = createRoute({
  ...within,
  path: '/credits',
  component: lazyRouteComponent(() => import('./pages/credits/Credits'), 'Credits'),
});
const paymentReturn = createRoute({
  ...within,
  path: '/credits/return',
  component: lazyRouteComponent(() => import('./pages/credits/Return'), 'PaymentReturn'),
});
const account = createRoute({
  ...within,
  path: '/account',
  beforeLoad: () => {
    throw redirect({ to: '/account/profile', search: {}, replace: true });
  },
});
const accountProfile = createRoute({
  ...within,
  path: '/account/profile',
  component: lazyRouteComponent(() => import('./pages/account/Profile'), 'Profile'),
});
const accountPeople = createRoute({
  ...within,
  path: '/account/people',
  component: lazyRouteComponent(() => import('./pages/people/People'), 'People'),
});
const accountCustomers = createRoute({
  ...within,
  path: '/account/customers',
  component: lazyRouteComponent(() => import('./pages/customers/Customers'), 'Customers'),
});
const accountSessions = createRoute({
  ...within,
  path: '/account/sessions',
  component: lazyRouteComponent(() => import('./pages/account/Sessions'), 'Sessions'),
});
const accountAudit = createRoute({
  ...within,
  path: '/account/audit',
  component: lazyRouteComponent(() => import('./pages/account/Audit'), 'Audit'),
});
const keys = createRoute({
  ...within,
  path: '/keys',
  component: lazyRouteComponent(() => import('./pages/keys/Keys'), 'Keys'),
});
const key = createRoute({
  ...within,
  path: '/keys/$id',
  component: lazyRouteComponent(() => import('./pages/key/Key'), 'KeyPage'),
});

const routeTree = root.addChildren([
  signIn,
  signUp,
  invite,
  inside.addChildren([
    home,
    start,
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
