// Checks of every page: with forced colours, magnified, and in the pseudo-locale. Each returns the faults that it finds, as sentences.

// Runs in the page: functions that the checks share, as window.seen.
function tools() {
  const shown = (it) => {
    const { width, height } = it.getBoundingClientRect();
    return (
      width > 1 &&
      height > 1 &&
      it.checkVisibility({ opacityProperty: true, visibilityProperty: true }) &&
      !it.closest('.unseen, [inert]')
    );
  };
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = '#000';
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = (colour) => {
    const [r, g, b] = rgba(colour).map((one) =>
      one / 255 <= 0.04045 ? one / 255 / 12.92 : ((one / 255 + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (one, other) => {
    const [high, low] = [light(one), light(other)].sort((a, b) => b - a);
    return (high + 0.05) / (low + 0.05);
  };
  const clear = (colour) => rgba(colour)[3] < 26;
  const nameOf = (it) =>
    `${it.tagName.toLowerCase()}.${it.getAttribute('class') ?? ''} “${(it.getAttribute('aria-label') ?? it.textContent ?? '').trim().slice(0, 40)}”`;
  const bordered = (it) => {
    const style = getComputedStyle(it);
    return ['Top', 'Bottom', 'Left', 'Right'].some(
      (side) =>
        style[`border${side}Style`] !== 'none' &&
        parseFloat(style[`border${side}Width`]) >= 1 &&
        !clear(style[`border${side}Color`]),
    );
  };
  const ground = (it) => {
    for (let at = it; at; at = at.parentElement)
      if (!clear(getComputedStyle(at).backgroundColor)) return getComputedStyle(at).backgroundColor;
    return getComputedStyle(document.documentElement).backgroundColor;
  };
  // The elements that Tab reaches, in a dialog if one is open.
  const reachable = () => {
    const dialogs = [...document.querySelectorAll('[role=dialog][aria-modal=true], [role=menu]')].filter(shown);
    const top = dialogs.find((it) => it.contains(document.activeElement)) ?? dialogs.at(-1);
    const all = [
      ...(top ?? document).querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex]'),
    ];
    return all.filter((it) => it.tabIndex >= 0 && !it.disabled && it.type !== 'hidden' && shown(it));
  };
  return Object.assign(window, { seen: { shown, contrast, clear, nameOf, bordered, ground, reachable } });
}

const WATCHED = [
  'color',
  'borderTopColor',
  'borderTopWidth',
  'borderTopStyle',
  'borderBottomColor',
  'borderBottomWidth',
  'borderBottomStyle',
  'outlineStyle',
  'textDecorationLine',
  'fontWeight',
];

// Where the person's system chooses the colours, shadows and backgrounds are gone, with every mark that they alone made.
export async function forcedColourFaults(page) {
  await page.evaluate(tools);
  // A mark by its background alone: an element without words, and unlike the ground behind it.
  await page.evaluate(() => {
    for (const it of document.querySelectorAll('body *')) {
      if (
        it.childElementCount > 0 ||
        it.textContent.trim() ||
        it.closest('svg') ||
        /^(INPUT|SELECT|TEXTAREA|IMG|SCRIPT|STYLE)$/.test(it.tagName) ||
        !window.seen.shown(it)
      )
        continue;
      const style = getComputedStyle(it);
      const painted =
        !window.seen.clear(style.backgroundColor) &&
        window.seen.contrast(style.backgroundColor, window.seen.ground(it.parentElement)) >= 1.6;
      if (painted && !it.className.toString().includes('overlay')) it.dataset.mark = 'yes';
    }
  });
  const faults = [];
  await page.keyboard.press('Shift'); // what has the focus from now on has it by the keyboard
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ forcedColors: 'active', colorScheme, reducedMotion: 'reduce' });
    const found = await page.evaluate((watched) => {
      const { shown, contrast, clear, nameOf, bordered, ground, reachable } = window.seen;
      const wrong = [];
      for (const it of document.querySelectorAll('[data-mark]')) {
        const { backgroundColor } = getComputedStyle(it);
        if (
          shown(it) &&
          !bordered(it) &&
          (clear(backgroundColor) || contrast(backgroundColor, ground(it.parentElement)) < 3)
        )
          wrong.push(`a mark is gone: ${nameOf(it)} in ${nameOf(it.parentElement)}`);
      }
      for (const it of document.querySelectorAll(
        'button[data-variant=filled], a[data-variant=filled], button[data-variant=danger], button[data-variant=default], a[data-variant=default], input:not([type=checkbox], [type=radio], [type=hidden], [type=file]), textarea, select, [role=dialog], .mantine-Menu-dropdown, .mantine-Combobox-dropdown, .mantine-Switch-track',
      )) {
        if (!shown(it)) continue;
        const edge = it.matches('input, textarea, select')
          ? [it, it.parentElement, it.parentElement.parentElement]
          : [it];
        if (!edge.some(bordered)) wrong.push(`has no edge: ${nameOf(it)}`);
      }
      for (const picture of document.querySelectorAll('svg')) {
        if (!shown(picture)) continue;
        // The tick of a checkbox stands over it, and is not its child.
        const behind = ground(picture.parentElement.querySelector(':scope > input') ?? picture.parentElement);
        const drawn = [...picture.querySelectorAll('path, rect, circle, line, polyline, polygon, ellipse, use')].filter(
          (it) => !it.closest('defs, pattern, mask, clipPath') && it.checkVisibility(),
        );
        const strong = (it) =>
          ['fill', 'stroke'].some((which) => {
            const colour = getComputedStyle(it)[which];
            return colour.startsWith('url') || (colour !== 'none' && !clear(colour) && contrast(colour, behind) >= 3);
          });
        if (drawn.length > 0 && !drawn.some(strong))
          wrong.push(`a picture is gone: ${nameOf(picture)} in ${nameOf(picture.parentElement)}`);
        for (const it of drawn)
          if (it.matches('[data-look], [class*=stroke]') && !strong(it))
            wrong.push(`a bar is gone: ${nameOf(it)} ${it.dataset.look ?? ''} in ${nameOf(picture)}`);
      }
      for (const it of document.querySelectorAll(
        '[aria-current]:not([aria-current=false]), [aria-selected=true], .mantine-SegmentedControl-label[data-active]',
      )) {
        if (!shown(it)) continue;
        const alike = [...document.querySelectorAll(`${it.tagName}[class="${it.className}"]`)].find(
          (one) =>
            one !== it &&
            shown(one) &&
            !one.matches('[aria-current]:not([aria-current=false]), [aria-selected=true], [data-active]'),
        );
        if (!alike) continue;
        const looks = (one) =>
          [
            ...watched.map((name) => getComputedStyle(one)[name]),
            contrast(ground(one), ground(document.body)).toFixed(1),
          ].join();
        if (looks(it) === looks(alike)) wrong.push(`is chosen, and drawn like the others: ${nameOf(it)}`);
      }
      for (const it of reachable().slice(0, 80)) {
        it.focus({ preventScroll: true });
        if (document.activeElement !== it) continue;
        const rings = [
          it,
          it.parentElement,
          it.nextElementSibling,
          it.closest('label'),
          it.parentElement.closest('.mantine-Input-input'),
          it.closest('[class*=Wrapper], [class*=wrapper]'),
        ].filter(Boolean);
        if (
          !rings.some(
            (one) =>
              getComputedStyle(one).outlineStyle !== 'none' && parseFloat(getComputedStyle(one).outlineWidth) >= 1,
          )
        )
          wrong.push(`shows no focus: ${nameOf(it)}`);
      }
      return wrong;
    }, WATCHED);
    faults.push(...found.map((one) => `${colorScheme}: ${one}`));
  }
  await page.emulateMedia({ forcedColors: null, colorScheme: null });
  await page.evaluate(() => document.querySelectorAll('[data-mark]').forEach((it) => delete it.dataset.mark));
  return [...new Set(faults)];
}

// At 400 %, which leaves a screen of 320 by 256: all is there by scrolling up and down, and what has the focus stands in sight.
export async function magnifiedFaults(page) {
  await page.evaluate(tools);
  return page.evaluate(async () => {
    const { nameOf, reachable } = window.seen;
    const wrong = [];
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth > clientWidth + 1) wrong.push(`${scrollWidth - clientWidth} px wider than the screen`);
    for (const dialog of document.querySelectorAll('[role=dialog][aria-modal=true]')) {
      for (const at of [dialog, ...dialog.querySelectorAll('*')]) {
        const style = getComputedStyle(at);
        if (
          at.scrollWidth > at.clientWidth + 2 &&
          /auto|scroll/.test(style.overflowX) &&
          at.clientWidth > 150 &&
          !at.closest('code, pre')
        )
          wrong.push(`scrolls sideways: ${nameOf(at)}`);
      }
    }
    await new Promise((done) => requestAnimationFrame(done));
    const all = reachable();
    document.activeElement.blur(); // the first focus of a dialog does not scroll
    for (const it of all) {
      it.focus();
      if (document.activeElement !== it) continue;
      await new Promise((done) => requestAnimationFrame(done));
      const target = /^(checkbox|radio|file)$/.test(it.type) ? (it.closest('label') ?? it) : it;
      const { left, right, top, bottom } = target.getBoundingClientRect();
      const [x, y] = [
        (Math.max(left, 0) + Math.min(right, innerWidth)) / 2,
        (Math.max(top, 0) + Math.min(bottom, innerHeight)) / 2,
      ];
      const at = document.elementFromPoint(x, y);
      const dialog = at?.closest('[role=dialog]');
      if (dialog && dialog !== it.closest('[role=dialog]')) continue; // it stands behind that dialog
      const there = at && (target.contains(at) || at.contains(target) || at.closest('label')?.contains(it));
      if (left >= innerWidth || right <= 0 || top >= innerHeight || bottom <= 0)
        wrong.push(`stands out of sight: ${nameOf(it)}`);
      else if (!there && it.type !== 'file') wrong.push(`is covered by ${at && nameOf(at)}: ${nameOf(it)}`);
    }
    return wrong;
  });
}

// In the pseudo-locale (web/build/pseudo_locale.ts): words that stand in no ⟦ ⟧, and are no data. `data`: every text that the service answered.
export async function bareStrings(page, data) {
  const found = await page.evaluate(() => {
    // A text as the page made it, of a shop's or a person's own words, or of the clock; and what is shown where no catalogue is loaded.
    const NO_WORDS = 'script, noscript, style, pre, code, kbd, bdi, [translate=no], time';
    const NAMES = [
      'aria-label',
      'aria-description',
      'aria-roledescription',
      'aria-valuetext',
      'title',
      'placeholder',
      'alt',
    ];
    const all = [['title', document.title]];
    const look = (it) => {
      if (it.matches(NO_WORDS) || (it.matches('textarea') && it.ariaHidden)) return; // Mantine measures with one
      for (const name of NAMES)
        if (it.getAttribute(name)) all.push([`${it.tagName.toLowerCase()}[${name}]`, it.getAttribute(name)]);
      // A sentence with elements in it stands in several pieces, between which are the elements.
      let words = '';
      for (const one of it.childNodes) {
        if (one.nodeType === Node.TEXT_NODE) words += one.data;
        else if (one.nodeType === Node.ELEMENT_NODE) (look(one), (words += '\u0001'));
      }
      if (words.trim()) all.push([it.tagName.toLowerCase(), words]);
    };
    look(document.body);
    return all;
  });
  const bare = new Set();
  for (const [where, text] of found) {
    let rest = text;
    for (let before = ''; before !== rest;) [before, rest] = [rest, rest.replace(/⟦[^⟦⟧]*⟧/g, '\u0001')];
    // A text of which each part is an element has its marks in two of them.
    rest = rest.replace(/^[^⟦⟧]*⟧|⟦[^⟦⟧]*$/g, '\u0001');
    for (const piece of rest.split('\u0001')) {
      const words = piece.replace(/\s+/g, ' ').trim();
      if (/\p{L}{2}/u.test(words) && !isData(words, data)) bare.add(`${where}: ${words.slice(0, 100)}`);
    }
  }
  return [...bare];
}
// As it was answered, several of them, in quotes, behind an @, the first letters of a name, a name of the contract, or of the clock and the
// calendar.
const KNOWN = /^(\w{3},? )?\d{1,2} [A-Z][a-z]{2,3}( \d{4})?$|^\d{1,2}:\d\d(:\d\d)? [AP]M$|^[a-z_]+\.[a-z_]+$/;
function isData(words, data) {
  const said = words.replace(/^[@“"(#]+|[”")]+$/g, '');
  return (
    data.has(said) ||
    words
      .replace(/^: /, '')
      .split(/, | and /)
      .every((one) => data.has(one)) ||
    KNOWN.test(words) ||
    /^UTC([+−][\d:]+)?$/.test(words) ||
    (/^\p{Lu}{2}$/u.test(words) && [...data].some((one) => one.toUpperCase().startsWith(words)))
  );
}
// Puts every text of an answer of the service among the data.
export function addData(data, it) {
  if (typeof it === 'string') data.add(it.replace(/\s+/g, ' ').trim());
  else if (it && typeof it === 'object') for (const one of Object.values(it)) addData(data, one);
}
