// The search field and the filters of a list. Choosing pushes an address, typing replaces it.
import { ActionIcon, Button, Menu, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconPlus, IconSearch, IconX } from '@tabler/icons-react';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { Bdi } from '@/components/Bdi';
import { t } from '@/i18n/text';
import { useShortcuts } from '@/shell/shortcuts';
import type { Search } from '../search';
import { chipText, type Option } from './filters';
import styles from './FilterBar.module.css';

type Store = { id: string; name: string };

// The filters of a list: their names, values and options.
export type Filters<Filter extends string> = {
  all: readonly Filter[];
  many: ReadonlySet<Filter>; // filters that may have several values
  nameOf: (filter: Filter) => string;
  valuesOf: (filter: Filter, search: Search) => string[];
  optionsOf: (filter: Filter, stores: Store[]) => Option[];
  placeholder: string; // of the search field
};

type Props<Filter extends string> = {
  filters: Filters<Filter>;
  search: Search;
  stores: Store[];
  onChange: (change: Record<string, string | undefined>, typed?: boolean) => void;
  children?: ReactNode;
  fixed?: Filter[]; // filters that cannot be chosen here
};

export function FilterBar<Filter extends string>(props: Props<Filter>) {
  const { filters, search, stores, onChange, children, fixed = [] } = props;
  const { all, many, nameOf, valuesOf, optionsOf } = filters;
  const [adding, setAdding] = useState<Filter | null>(null);
  const set = all.filter((filter) => !fixed.includes(filter) && valuesOf(filter, search).length > 0);
  const shown = adding && !set.includes(adding) ? [...set, adding] : set;
  const left = all.filter(
    (filter) => !fixed.includes(filter) && !shown.includes(filter) && optionsOf(filter, stores).length > 0,
  );
  return (
    <div className={styles.bar} role="group" aria-label={t('filter.list')}>
      <SearchField
        label={filters.placeholder}
        value={search.q ?? ''}
        onChange={(q) => onChange({ q: q || undefined }, true)}
      />
      <div className={styles.chips}>
        {shown.map((filter) => (
          <Chip
            key={filter}
            name={nameOf(filter)}
            many={many.has(filter)}
            values={valuesOf(filter, search)}
            options={optionsOf(filter, stores)}
            begun={adding === filter}
            onDone={() => setAdding(null)}
            onChange={(values) => onChange({ [filter]: values.join(',') || undefined })}
          />
        ))}
        {left.length > 0 ? (
          <Menu position="bottom-start">
            <Menu.Target>
              <Button className={styles.add} leftSection={<IconPlus size={15} />}>
                {t('filter.add')}
              </Button>
            </Menu.Target>
            <Menu.Dropdown aria-label={t('filter.choose')}>
              {left.map((filter) => (
                <Menu.Item key={filter} onClick={() => setAdding(filter)}>
                  {nameOf(filter)}
                </Menu.Item>
              ))}
            </Menu.Dropdown>
          </Menu>
        ) : null}
      </div>
      <div className={styles.rest}>{children}</div>
    </div>
  );
}

type SearchProps = { label: string; value: string; onChange: (value: string) => void };

export function SearchField({ label, value, onChange }: SearchProps) {
  const field = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState(value);
  const reported = useRef(value);
  const report = useDebouncedCallback((text: string) => {
    reported.current = text;
    onChange(text);
  }, 250);
  useEffect(() => {
    if (value !== reported.current) setTyped(value); // changed elsewhere: Back, or the filters were cleared
    reported.current = value;
  }, [value]);
  useShortcuts({ '/': () => field.current?.focus() });
  return (
    <TextInput
      ref={field}
      className={styles.search}
      type="search"
      aria-label={label}
      placeholder={label}
      leftSection={<IconSearch size={16} />}
      rightSection={<kbd className={styles.key}>{'/'}</kbd>}
      maxLength={100}
      value={typed}
      onChange={(event) => {
        setTyped(event.currentTarget.value);
        report(event.currentTarget.value);
      }}
    />
  );
}

type ChipProps = {
  name: string;
  many: boolean;
  values: string[];
  options: Option[];
  begun: boolean;
  onDone: () => void;
  onChange: (values: string[]) => void;
};

function Chip({ name, many, values, options, begun, onDone, onChange }: ChipProps) {
  const [opened, setOpened] = useState(begun);
  const choose = (value: string) => {
    if (!many) onChange([value]);
    else onChange(values.includes(value) ? values.filter((one) => one !== value) : [...values, value]);
  };
  return (
    <span className={styles.chip}>
      <Menu
        position="bottom-start"
        opened={opened}
        onChange={(now) => {
          setOpened(now);
          if (!now) onDone();
        }}
      >
        <Menu.Target>
          <button type="button" aria-label={`${t('filter.change', { name })}: ${chipText(values, options)}`}>
            {name}{' '}
            <strong>
              <Bdi>{chipText(values, options)}</Bdi>
            </strong>
          </button>
        </Menu.Target>
        <Menu.Dropdown>
          {options.map(({ value, label }) =>
            many ? (
              <Menu.CheckboxItem key={value} checked={values.includes(value)} onChange={() => choose(value)}>
                {label}
              </Menu.CheckboxItem>
            ) : (
              <Menu.RadioItem
                key={value}
                value={value}
                checked={values.includes(value)}
                onChange={choose}
                closeMenuOnClick
              >
                {label}
              </Menu.RadioItem>
            ),
          )}
        </Menu.Dropdown>
      </Menu>
      <ActionIcon
        size={24}
        aria-label={t('filter.clearOne', { name })}
        onClick={() => {
          onDone();
          onChange([]);
        }}
      >
        <IconX size={14} />
      </ActionIcon>
    </span>
  );
}
