// The words of a tab that came back from an identity provider. The page that opened it goes on by itself.
import { Link } from '@tanstack/react-router';
import { t } from '@/i18n/text';
import { Frame } from '../sign-in/Frame';

export function TabDone({ title, lead }: { title: string; lead: string }) {
  return (
    <Frame title={title} lead={lead} page={title}>
      <p>
        <Link className="link" to="/" search={{}}>
          {t('confirmed.home')}
        </Link>
      </p>
    </Frame>
  );
}
