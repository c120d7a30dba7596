// Replaces all matches by a table: first a list of the changes, then the change.
import '@/i18n/en/more_matches';
import '@/i18n/en/stores';
import { Button } from '@mantine/core';
import { IconDownload, IconUpload } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { api, ok, type Schemas } from '@/api/client';
import { sentence } from '@/api/errors';
import { ConfirmDialog } from '@/components/Dialogs';
import { toast } from '@/components/toasts';
import { t } from '@/i18n/text';
import styles from './products.module.css';

type Diff = Schemas['MappingImport'];

const send = (id: string, text: string, dryRun: boolean) =>
  ok(
    api.POST('/api/integrations/{integration}/mappings.csv', {
      params: { path: { integration: id }, query: { dryRun } },
      body: text,
      bodySerializer: (body: string) => body,
      headers: { 'content-type': 'text/csv' },
    }),
  );

export function Csv({ id }: { id: string }) {
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState('');
  const [diff, setDiff] = useState<Diff | null>(null);
  const client = useQueryClient();
  const faulty = diff !== null && diff.errorCount > 0;
  const choose = () => field.current?.click();
  async function look(file: File | undefined) {
    if (!file) return;
    try {
      const chosen = await file.text();
      setDiff(await send(id, chosen, true));
      setText(chosen);
    } catch (error) {
      toast(sentence(error), { tone: 'bad' });
    }
  }
  async function save() {
    try {
      const table = await ok<unknown>(
        api.GET('/api/integrations/{integration}/mappings.csv', {
          params: { path: { integration: id } },
          parseAs: 'text',
        }),
      );
      const address = URL.createObjectURL(new Blob([String(table)], { type: 'text/csv' }));
      const link = document.createElement('a');
      link.href = address;
      link.download = 'matches.csv';
      link.click();
      URL.revokeObjectURL(address);
    } catch (error) {
      toast(sentence(error), { tone: 'bad' });
    }
  }
  return (
    <>
      <input
        ref={field}
        type="file"
        accept=".csv,text/csv"
        hidden
        aria-label={t('import.file')}
        onChange={(event) => {
          void look(event.currentTarget.files?.[0]);
          event.currentTarget.value = '';
        }}
      />
      <Button variant="subtle" leftSection={<IconUpload size={16} />} onClick={choose}>
        {t('products.import')}
      </Button>
      <Button variant="subtle" leftSection={<IconDownload size={16} />} onClick={() => void save()}>
        {t('products.export')}
      </Button>
      <ConfirmDialog
        opened={diff !== null}
        onClose={() => setDiff(null)}
        title={t('import.title')}
        body={t('import.lead')}
        button={t(faulty ? 'import.another' : 'import.button')}
        onConfirm={async () => {
          if (faulty) return choose();
          await send(id, text, false);
          toast(t('import.done'));
          await client.invalidateQueries({ queryKey: ['stores'] });
        }}
      >
        {faulty ? (
          <div className={styles.errors} role="alert" tabIndex={0}>
            <p>{t('import.errors', { count: diff.errorCount })}</p>
            <ul>
              {diff.errors.map(({ line, column, problem }, index) => (
                <li key={index}>
                  {column ? t('import.lineColumn', { line, column, problem }) : t('import.line', { line, problem })}
                </li>
              ))}
            </ul>
          </div>
        ) : diff ? (
          <p className={styles.diff}>
            <span>{t('import.added', { n: diff.added })}</span>
            <span>{t('import.changed', { n: diff.changed })}</span>
            <span>{t('import.removed', { n: diff.removed })}</span>
          </p>
        ) : null}
      </ConfirmDialog>
    </>
  );
}
