// The tabs of the list: those that everybody has, and the person's own.
import { ActionIcon, Menu } from '@mantine/core';
import { IconDots } from '@tabler/icons-react';
import { lazy, Suspense, useState } from 'react';
import { sentence } from '@/api/errors';
import { changePreferences, usePreferences } from '@/api/preferences';
import { Tabs } from '@/components/Tabs';
import { toast, toastUndo } from '@/components/toasts';
import { t } from '@/i18n/text';
import { useShortcuts } from '@/shell/shortcuts';
import { changed, type Search } from '../../search';
import { VIEWS, viewOf, withoutFilters, type View } from '../filters';
import { activeOf, isWorthSaving, moved, queryTextOf, searchOf, type SavedView } from './views';
import styles from './views.module.css';

const NameDialog = lazy(() => import('./NameDialog').then((part) => ({ default: part.NameDialog })));

const set = (change: (views: SavedView[]) => SavedView[]) =>
  changePreferences(({ views }) => ({ views: change(views) })).catch((error: unknown) =>
    toast(sentence(error), { tone: 'bad' }),
  );

type Props = {
  search: Search;
  onSearch: (next: Search) => void;
  countOf: (view: View) => string | undefined;
};

export function ViewTabs({ search, onSearch, countOf }: Props) {
  const [naming, setNaming] = useState<'new' | 'rename' | null>(null);
  const views = usePreferences().data?.views ?? [];
  const active = activeOf(views, search);
  const its = views[active];
  // A tab that is opened from a view of the person's own begins without the filters of that view.
  const from = its ? withoutFilters(search) : search;
  const tabs = [
    ...VIEWS.map((one) => ({
      label: t(`deliveries.tab.${one}`),
      count: countOf(one),
      active: !its && one === viewOf(search),
      search: changed(from, { view: one === 'all' ? undefined : one, ...(its ? { sort: undefined } : {}) }),
    })),
    ...views.map((view) => ({ label: view.name, active: view === its, search: searchOf(view) })),
  ];
  const step = (by: number) => {
    const next = tabs[tabs.findIndex((tab) => tab.active) + by];
    if (next) onSearch(next.search);
  };
  useShortcuts({ '[': () => step(-1), ']': () => step(1) });
  const move = (to: number) => void set((now) => moved(now, activeOf(now, search), to));
  function remove() {
    if (!its) return;
    void set((now) => now.filter((_, at) => at !== activeOf(now, search)));
    const undo = () =>
      void set((now) =>
        activeOf(now, searchOf(its)) < 0 ? [...now.slice(0, active), its, ...now.slice(active)] : now,
      );
    toastUndo(t('views.deleted', { name: its.name }), undo);
    onSearch({});
  }
  return (
    <div className={styles.bar}>
      <Tabs
        label={t('deliveries.title')}
        tabs={tabs.map(({ search: to, ...tab }) => ({ ...tab, link: { to: '/deliveries', search: to } }))}
      />
      {isWorthSaving(views, search) ? (
        <button type="button" className="link" onClick={() => setNaming('new')}>
          {t('views.save')}
        </button>
      ) : null}
      {its ? (
        <Menu width={200} position="bottom-end">
          <Menu.Target>
            <ActionIcon size={28} aria-label={t('views.change', { name: its.name })}>
              <IconDots size={18} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={() => setNaming('rename')}>{t('views.rename')}</Menu.Item>
            <Menu.Item disabled={active === 0} onClick={() => move(active - 1)}>
              {t('views.left')}
            </Menu.Item>
            <Menu.Item disabled={active === views.length - 1} onClick={() => move(active + 1)}>
              {t('views.right')}
            </Menu.Item>
            <Menu.Divider />
            <Menu.Item data-danger onClick={remove}>
              {t('views.delete')}
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      ) : null}
      {naming ? (
        <Suspense>
          <NameDialog
            title={t(naming === 'new' ? 'views.save' : 'views.rename')}
            name={naming === 'new' ? '' : (its?.name ?? '')}
            onClose={() => setNaming(null)}
            onName={(name) =>
              changePreferences((now) => ({
                views:
                  naming === 'new'
                    ? [...now.views, { name, query: queryTextOf(search) }]
                    : now.views.map((view, at) => (at === activeOf(now.views, search) ? { ...view, name } : view)),
              }))
            }
          />
        </Suspense>
      ) : null}
    </div>
  );
}
