// The first ten minutes: five steps to the first delivery. A step is done by the service's data, never by a click. One step is open: the
// first that is not done, unless the address names another.
import '@/i18n/en/guide';
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, type ReactNode } from 'react';
import { changePreferences, usePreferences } from '@/api/preferences';
import { queries } from '@/api/queries';
import { Announce } from '@/components/Announce';
import { OfflineBar } from '@/components/LiveSign';
import { Loaded, SkeletonRows } from '@/components/States';
import { t } from '@/i18n/text';
import { Mark } from '@/shell/Mark';
import { SandboxBar } from '@/shell/SandboxBar';
import { useHeard } from '../store/useHeard';
import { isGuided, stepsDone, type Setup } from './later';
import { useCloudLine, useFirstLine, useGuideStore, useMatchLine, useStoreLine } from './lines';
import { Step } from './Step';
import styles from './start.module.css';

// One step is open at a time, and the others are not needed yet.
const CloudStep = lazy(() => import('./CloudStep').then((part) => ({ default: part.CloudStep })));
const StoreStep = lazy(() => import('./StoreStep').then((part) => ({ default: part.StoreStep })));
const MatchStep = lazy(() => import('./MatchStep').then((part) => ({ default: part.MatchStep })));
const TestStep = lazy(() => import('./TestStep').then((part) => ({ default: part.TestStep })));
const FirstStep = lazy(() => import('./FirstStep').then((part) => ({ default: part.FirstStep })));

const route = getRouteApi('/inside/start');

export function Start() {
  const read = useQuery(queries.overview());
  const preferences = usePreferences().data;
  const version = useQuery(queries.version());
  const navigate = useNavigate();
  useEffect(() => {
    document.title = t('app.title', { page: t('guide.page') });
  }, []);
  const leave = () => {
    // The overview follows the cached value at once; where the service does not store it, the guide comes back another day.
    changePreferences(() => ({ guideDismissedAt: new Date().toISOString() })).catch(() => {});
    void navigate({ to: '/' });
  };
  // Whether the overview leads here.
  const guided = preferences !== undefined && read.data !== undefined && isGuided(read.data.setup, preferences);
  const finished = read.data?.setup.firstDelivery === true;
  return (
    <div className={styles.screen}>
      {version.data?.sandbox ? <SandboxBar /> : null}
      <header className={styles.bar}>
        <Mark />
        <strong>{t('app.name')}</strong>
        <Button variant="subtle" onClick={leave}>
          {finished ? t('guide.first.go') : t('guide.later')}
        </Button>
      </header>
      <main className={styles.page}>
        <OfflineBar />
        <h1>{t(finished ? 'guide.titleDone' : 'guide.title')}</h1>
        <p className={styles.lead}>{t(finished ? 'guide.leadDone' : guided ? 'guide.leadGuided' : 'guide.lead')}</p>
        <Loaded read={read} what={t('guide.page')} skeleton={<SkeletonRows rows={5} height={72} />}>
          {({ setup }) => <Steps setup={setup} onLeave={leave} />}
        </Loaded>
      </main>
    </div>
  );
}

function Steps({ setup, onLeave }: { setup: Setup; onLeave: () => void }) {
  const search = route.useSearch();
  const navigate = useNavigate();
  const cloud = useQuery(queries.cloud());
  const store = useGuideStore(search.store);
  useHeard(store && store.lastOrderAt === null ? store.id : undefined); // whichever step is open
  const done = stepsDone(setup);
  // A login that the platform could not check yet holds nobody up.
  const passed = done.map((is, at) => is || (at === 0 && cloud.data?.status === 'unchecked'));
  const next = passed.indexOf(false);
  const asked = Number(search.step) - 1;
  const open = done[asked] !== undefined ? asked : next < 0 ? 4 : next;
  const lines = [
    useCloudLine(),
    useStoreLine(store),
    useMatchLine(store, setup.mapping),
    null,
    useFirstLine(setup.firstDelivery),
  ];
  const chosen: Record<string, string> = search.store ? { store: search.store } : {};
  const show = (step: number) =>
    void navigate({ to: '/start', search: { ...chosen, step: String(step + 1) }, replace: true });
  // A step that was asked for and is done now gives way to the next.
  const follow = () => void navigate({ to: '/start', search: chosen, replace: true });
  const choose = (id: string) => void navigate({ to: '/start', search: { step: '2', store: id }, replace: true });
  const contents: ReactNode[] = [
    <CloudStep key="cloud" onDone={follow} />,
    <StoreStep key="store" store={store} onDone={follow} onStore={choose} />,
    <MatchStep key="match" store={store} onDone={follow} />,
    <TestStep key="test" store={store} done={setup.testOrder} onSent={() => show(3)} onDone={follow} />,
    <FirstStep
      key="first"
      store={store}
      ready={Boolean(passed[0]) && setup.firstOrder}
      done={setup.firstDelivery}
      onLeave={onLeave}
      onMatch={() => show(2)}
    />,
  ];
  const count = done.filter(Boolean).length;
  return (
    <>
      <div className={styles.progress} role="img" aria-label={t('guide.progress', { done: count })}>
        {done.map((is, step) => (
          <i key={step} data-done={is || undefined} data-half={(step === 1 && setup.store && !is) || undefined} />
        ))}
      </div>
      <Announce text={t('guide.progress', { done: count })} />
      <ol className={styles.steps}>
        {(['cloud', 'store', 'mapping', 'test', 'first'] as const).map((name, step) => (
          <Step
            key={name}
            number={step + 1}
            done={done[step] ?? false}
            open={step === open}
            title={
              name === 'store' && step === open && store
                ? t('guide.store.of', { name: store.name })
                : t(`guide.${name}`)
            }
            text={step !== open && lines[step] ? lines[step] : t(`guide.${name}.text`)}
            change={t(step < 3 && done[step] ? 'guide.change' : 'guide.open')}
            onOpen={() => show(step)}
          >
            <Suspense fallback={<SkeletonRows rows={2} height={56} />}>{contents[step]}</Suspense>
          </Step>
        ))}
      </ol>
    </>
  );
}
