// New accounts: one on each step of the first ten minutes, and one that put the guide off. The orders of their shops are sent by the
// demonstration's story (demo/story.mjs), on the running service (demo/present.mjs).
import { setTimeout as delay } from 'node:timers/promises';
import { FILES, mappings } from '../../demo/catalogue.mjs';

// In this order: each account has done the steps of those before it too.
const STEPS = ['quiet', 'login', 'listening', 'heard', 'matched', 'tested'];

// {signs by name, stores by name}
export async function beginners(story) {
  const signs = {};
  const stores = {};
  for (const [done, name] of STEPS.entries()) {
    signs[name] = await signUp(story, name, 'Quiet Amps');
    if (done > 0) stores[name] = await begin(story, signs[name], name, done);
  }
  signs.later = await signUp(story, 'later', 'Later Leads');
  await story.person(async (api) => {
    const preferences = await api('GET', '/api/me/preferences');
    await api('PUT', '/api/me/preferences', { ...preferences, guideDismissedAt: new Date().toISOString() });
  }, signs.later);
  return { signs, stores };
}

async function signUp(story, name, accountName) {
  const sign = { ...story.sign, email: story.sign.email.replace(/^[^@]+/, name) };
  await story.past.must('bridge', 'POST', '/api/auth/sign-up', { ...sign, accountName });
  return sign;
}

async function begin(story, sign, name, done) {
  const login = { email: `${name}@cloud.example`, password: `${name} at the cloud` };
  await story.past.must('cloud', 'POST', '/sim/merchants', {
    ...login,
    userId: `m-${name}`,
    username: `${name}_amps`,
    files: FILES,
  });
  return story.person(async (api) => {
    await api('PUT', '/api/credentials', login);
    if (done < 2) return undefined;
    const store = { provider: 'provider_a', name: 'quietamps.example' };
    Object.assign(store, await api('POST', '/api/integrations', { provider: store.provider, name: store.name }));
    if (done >= 3)
      await story.order(store, {
        username: 'lena.hartvig',
        email: 'lena@posteo.example',
        skus: ['TWEED-59', 'FUZZ-BUNDLE'],
        test: true,
      });
    if (done >= 4)
      await api('PUT', `/api/integrations/${store.id}/mappings`, { mappings: mappings(['TWEED-59', 'PLEXI-PACK']) });
    if (done >= 5) await rehearse(api, store);
    return store;
  }, sign);
}

async function rehearse(api, store) {
  const { deliveryId } = await api('POST', `/api/integrations/${store.id}/test-order`, {});
  for (let tries = 0; tries < 60; ++tries) {
    if ((await api('GET', `/api/deliveries/${deliveryId}`)).status === 'completed') return;
    await delay(250);
  }
  throw new Error(`the test order of ${store.name} did not arrive`);
}
