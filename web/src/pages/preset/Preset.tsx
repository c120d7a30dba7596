// One file: which products deliver it, and the newest deliveries that have it.
import '@/i18n/en/presets';
import '@/i18n/en/stores';
import { IconArrowRight } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { Schemas } from '@/api/client';
import { isMissing } from '@/api/errors';
import { queries } from '@/api/queries';
import { CopyIcon } from '@/components/Copy';
import { PageHeader } from '@/components/PageHeader';
import { Loaded, SkeletonRows } from '@/components/States';
import { Tag } from '@/components/Tag';
import { t } from '@/i18n/text';
import { word } from '@/vocabulary/delivery';
import { DeliveryRows } from '../deliveries/DeliveryRows';
import { Missing } from '../missing/Missing';
import { countText } from '../presets/PresetRows';
import styles from './preset.module.css';
import { Gone } from './Gone';
import { Uses } from './Uses';

const route = getRouteApi('/inside/presets/$id');
const SHOWN = 10;
type Preset = Schemas['PresetWithUses'];

export function PresetPage() {
  const { id } = route.useParams();
  const read = useQuery(queries.preset(id));
  if (isMissing(read.error))
    return <Missing what={t('preset.missing')} back={{ label: t('preset.all'), to: '/presets' }} />;
  return (
    <div className={styles.page}>
      <Loaded read={read} page what={t('preset.what')} skeleton={<SkeletonRows rows={6} height={56} />}>
        {(it) => <Content key={it.id} it={it} />}
      </Loaded>
    </div>
  );
}

function Content({ it }: { it: Preset }) {
  const name = it.name || it.id;
  return (
    <>
      <PageHeader
        title={name}
        crumbs={[{ label: t('presets.title'), to: '/presets' }, { label: name }]}
        meta={
          <>
            <span>{word('kind', it.kind)}</span>
            {it.usedBy === undefined ? null : (
              <span>{it.usedBy > 0 ? t('presets.usedBy', { count: it.usedBy }) : t('presets.unused')}</span>
            )}
            {it.gone ? (
              <span>
                <Tag>{t('presets.gone')}</Tag>
              </span>
            ) : null}
            <span className={styles.id} title={t('preset.id')}>
              <code>{it.id}</code>
              <CopyIcon text={it.id} what={it.id} />
            </span>
          </>
        }
      />
      <div className={styles.parts}>
        {it.gone ? <Gone it={it} /> : null}
        {it.uses ? <Uses uses={it.uses} total={it.usedBy ?? it.uses.length} /> : null}
        <Deliveries id={it.id} count={it.deliveredCount} />
      </div>
    </>
  );
}

function Deliveries({ id, count }: { id: string; count: number | undefined }) {
  const read = useQuery(queries.deliveries({ fileId: id, limit: SHOWN }));
  return (
    <section>
      <div className={styles.head}>
        <h2>{t('preset.delivered')}</h2>
        {count !== undefined && count > SHOWN ? (
          <Link className={styles.all} to="/deliveries" search={{ file: id }}>
            {t('preset.delivered.all', { n: countText(count) })} <IconArrowRight size={15} aria-hidden="true" />
          </Link>
        ) : null}
      </div>
      <Loaded read={read} what={t('deliveries.what')} skeleton={<SkeletonRows rows={3} />}>
        {({ data }) =>
          data.length > 0 ? (
            <DeliveryRows rows={data} list={`file=${encodeURIComponent(id)}`} />
          ) : (
            <p className="muted">{t('preset.delivered.none')}</p>
          )
        }
      </Loaded>
    </section>
  );
}
