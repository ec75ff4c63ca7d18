// Loads the OpenAPI document and shows its operations. Texts from the document are
// inserted as text, never as markup.
'use strict';

const make = (tag, props = {}, ...children) => {
  const el = document.createElement(tag);
  for (const [k, v] of Object.entries(props)) {
    if (k === 'class') el.className = v;
    else if (k in el) el[k] = v;
    else el.setAttribute(k, v);
  }
  el.append(...children.filter((c) => c !== null && c !== undefined));
  return el;
};
const $ = (id) => document.getElementById(id);
const pretty = (v) => JSON.stringify(v, null, 2);

let doc;
const follow = (o) => {
  while (o && o.$ref) o = o.$ref.slice(2).split('/').reduce((at, k) => at[k.replace(/~1/g, '/').replace(/~0/g, '~')], doc);
  return o;
};

// words converts `code` and **strong** in a text to elements.
const words = (text) => {
  const out = [];
  for (const part of text.split(/(`[^`]+`|\*\*[^*]+\*\*)/)) {
    if (part.startsWith('`')) out.push(make('code', {}, part.slice(1, -1)));
    else if (part.startsWith('**')) out.push(make('strong', {}, part.slice(2, -2)));
    else if (part) out.push(part);
  }
  return out;
};
const paragraphs = (text) => text.split(/\n\n+/).map((p) => make('p', {}, ...words(p)));

// typeOf describes a schema in a few words.
const typeOf = (s) => {
  if (!s) return '';
  if (s.$ref) return s.$ref.split('/').pop();
  if (s.anyOf) return s.anyOf.map(typeOf).join(' or ');
  if (s.allOf) return typeOf(s.allOf[0]);
  let t = [].concat(s.type || 'any').join(' or ');
  if (s.items) t = 'list of ' + typeOf(s.items);
  else if (s.additionalProperties && s.additionalProperties !== true) t = 'map of ' + typeOf(s.additionalProperties);
  else if (s.format && !/^(int|double|float)/.test(s.format)) t += ', ' + s.format;
  if (s.enum) t = s.enum.map((v) => String(v)).join(' | ');
  for (const [k, sign] of [['minimum', '≥ '], ['maximum', '≤ '], ['minLength', 'length ≥ '], ['maxLength', 'length ≤ ']])
    if (s[k] !== undefined) t += ', ' + sign + s[k];
  if (s.default !== undefined) t += ', default ' + s.default;
  return t;
};

// fieldsOf returns a table of an object's fields. Fields of nested objects are expanded on demand.
const fieldsOf = (schema, depth = 0) => {
  const s = follow(schema);
  if (s && s.items && !s.properties) return fieldsOf(s.items, depth);
  if (!s || !s.properties) return make('p', { class: 'soft' }, typeOf(s));
  const rows = Object.entries(s.properties).map(([name, p]) => {
    const inner = [p, p.items, p.additionalProperties, ...(p.anyOf || [])].find((x) => x && x.$ref);
    const cell = make('td', {}, typeOf(p));
    if (p.description) cell.append(make('br'), ...words(p.description));
    if (inner && depth < 6) {
      const more = make('details', {}, make('summary', {}, 'fields of ' + inner.$ref.split('/').pop()));
      more.addEventListener('toggle', () => { if (more.childElementCount === 1) more.append(fieldsOf(inner, depth + 1)); });
      cell.append(more);
    }
    return make('tr', {}, make('th', { scope: 'row' }, make('code', {}, name), (s.required || []).includes(name) ? '' : make('span', { class: 'soft' }, ' optional')), cell);
  });
  return make('table', {}, make('tbody', {}, ...rows));
};

const parametersOf = (op) => (op.parameters || []).map(follow);

const showParameters = (op) => {
  const rows = parametersOf(op).map((p) => make('tr', {},
    make('th', { scope: 'row' }, make('code', {}, p.name), p.required ? ' ' : make('span', { class: 'soft' }, ' optional')),
    make('td', {}, p.in), make('td', {}, typeOf(p.schema), p.description ? make('br') : null, ...words(p.description || ''))));
  return make('table', {}, make('thead', {}, make('tr', {}, ...['name', 'in', 'what'].map((t) => make('th', { scope: 'col' }, t)))), make('tbody', {}, ...rows));
};

const showContent = (content) => Object.entries(content || {}).flatMap(([kind, m]) => {
  const out = [make('p', { class: 'soft' }, kind)];
  if (m.schema) out.push(fieldsOf(m.schema.allOf ? m.schema.allOf[0] : m.schema));
  const examples = m.example !== undefined ? { Example: { value: m.example } } : m.examples || {};
  for (const [name, e] of Object.entries(examples))
    out.push(make('h4', {}, name), make('pre', { tabIndex: 0 }, typeof e.value === 'string' ? e.value : pretty(e.value)));
  return out;
});

const showResponses = (op) => Object.entries(op.responses).map(([status, r]) => {
  const res = follow(r);
  const box = make('details', {}, make('summary', {}, make('strong', {}, status), ' ', ...words(res.description)));
  box.addEventListener('toggle', () => {
    if (box.childElementCount > 1) return;
    box.append(make('p', { class: 'soft' }, 'Headers: ' + Object.keys(res.headers || {}).join(', ')), ...showContent(res.content));
  });
  return box;
});

// tryIt returns the form that sends a request and shows the response.
const tryIt = (path, method, op) => {
  const id = (name) => op.operationId + '-' + name;
  const inputs = {};
  const fields = make('div', { class: 'fields' });
  for (const p of parametersOf(op)) {
    if (/^x-service-tenant-id$/i.test(p.name)) continue;
    const input = make('input', { id: id(p.in + '-' + p.name), required: p.in === 'path', spellcheck: false, placeholder: p.example === undefined ? '' : String(p.example) });
    inputs[p.in + ' ' + p.name] = [p, input];
    fields.append(make('label', { htmlFor: input.id }, p.name + ' (' + p.in + ')', input));
  }
  const content = op.requestBody && op.requestBody.content;
  const json = content && content['application/json'];
  const form = content && content['multipart/form-data'];
  let body = null;
  const parts = {};
  if (json) {
    body = make('textarea', { id: id('body'), spellcheck: false, value: pretty(json.example) });
    fields.append(make('label', { htmlFor: body.id }, 'body (JSON)', body));
  }
  if (form) for (const [name, s] of Object.entries(form.schema.properties)) {
    parts[name] = make('input', { id: id('form-' + name), type: s.format === 'binary' ? 'file' : 'text' });
    fields.append(make('label', { htmlFor: parts[name].id }, name + ' (form)', parts[name]));
  }
  const answer = make('div', { role: 'status' });
  const el = make('form', { autocomplete: 'off' }, fields, make('button', { type: 'submit' }, 'Send'));
  el.addEventListener('submit', async (event) => {
    event.preventDefault();
    const headers = {};
    const query = new URLSearchParams();
    let url = path;
    for (const [p, input] of Object.values(inputs)) {
      const v = input.value.trim();
      if (p.in === 'path') url = url.replace('{' + p.name + '}', encodeURIComponent(v));
      else if (v && p.in === 'query') query.set(p.name, v);
      else if (v && p.in === 'header') headers[p.name] = v;
    }
    if (query.size) url += '?' + query;
    if ($('key').value) headers.Authorization = 'Bearer ' + $('key').value.trim();
    if ($('tenant').value) headers['X-Service-Tenant-Id'] = $('tenant').value.trim();
    let data;
    if (body && body.value.trim()) { headers['Content-Type'] = 'application/json'; data = body.value; }
    if (form) {
      data = new FormData();
      for (const [name, input] of Object.entries(parts))
        if (input.type === 'file') { if (input.files[0]) data.append(name, input.files[0]); } else if (input.value) data.append(name, input.value);
    }
    answer.replaceChildren(make('p', {}, 'Sending…'));
    const began = performance.now();
    try {
      const res = await fetch(url, { method, headers, body: data, credentials: $('key').value ? 'omit' : 'same-origin' });
      const took = Math.round(performance.now() - began);
      const kind = res.headers.get('Content-Type') || '';
      let shown;
      if (kind.includes('json')) {
        const text = await res.text();
        try { shown = pretty(JSON.parse(text)); } catch { shown = text; }
      } else if (kind.startsWith('text/')) shown = await res.text();
      else {
        const blob = await res.blob();
        shown = blob.size + ' bytes of ' + (kind || 'nothing');
      }
      answer.replaceChildren(
        make('h4', {}, res.status + ' ' + res.statusText + ' · ' + took + ' ms · ' + method + ' ' + url),
        make('pre', { tabIndex: 0, 'aria-label': 'response headers' }, [...res.headers].map(([k, v]) => k + ': ' + v).join('\n')),
        make('pre', { tabIndex: 0, 'aria-label': 'response body' }, shown.slice(0, 200000)));
    } catch (e) {
      answer.replaceChildren(make('p', {}, 'The request failed: ' + e.message));
    }
  });
  return [el, answer];
};

const showOperation = (path, method, op) => {
  const box = make('details', { class: 'op', id: op.operationId },
    make('summary', {}, make('span', { class: 'method ' + method }, method.toUpperCase()), make('code', {}, path), ' ', make('span', {}, op.summary)));
  box.addEventListener('toggle', () => {
    if (!box.open || box.childElementCount > 1) return;
    const inside = make('div', { class: 'inside' }, ...paragraphs(op.description || ''));
    if (parametersOf(op).length) inside.append(make('h3', {}, 'Parameters'), showParameters(op));
    if (op.requestBody) inside.append(make('h3', {}, 'Body'), ...showContent(op.requestBody.content));
    inside.append(make('h3', {}, 'Answers'), ...showResponses(op), make('h3', {}, 'Try it'), ...tryIt(path, method.toUpperCase(), op));
    box.append(inside);
  });
  return box;
};

const show = () => {
  $('version').textContent = doc.info.version;
  const sections = new Map(doc.tags.map((t) => [t.name, { tag: t, ops: [] }]));
  for (const [path, item] of Object.entries(doc.paths))
    for (const [method, op] of Object.entries(item)) sections.get(op.tags[0]).ops.push([path, method, op]);
  const main = $('main');
  main.replaceChildren(make('section', { id: 'about' }, ...paragraphs(doc.info.description)));
  const entries = [];
  for (const { tag, ops } of sections.values()) {
    if (!ops.length) continue;
    const list = make('ul');
    const heading = make('h2', {}, tag.name);
    const section = make('section', {}, make('h2', {}, tag.name), make('p', {}, ...words(tag.description || '')));
    const part = make('div', {}, heading, list);
    for (const [path, method, op] of ops) {
      const box = showOperation(path, method, op);
      const item = make('li', {}, make('a', { href: '#' + op.operationId }, op.summary));
      list.append(item);
      section.append(box);
      entries.push({ box, item, section, part, text: [path, method, op.summary, op.operationId, op['x-service-permission'] || '', tag.name].join(' ').toLowerCase() });
    }
    $('toc').append(part);
    main.append(section);
  }
  $('find').addEventListener('input', () => {
    const wanted = $('find').value.toLowerCase().split(/\s+/).filter(Boolean);
    const alive = new Set();
    for (const e of entries) {
      const hit = wanted.every((w) => e.text.includes(w));
      e.box.hidden = e.item.hidden = !hit;
      if (hit) alive.add(e.section).add(e.part);
    }
    for (const e of entries) { e.section.hidden = !alive.has(e.section); e.part.hidden = !alive.has(e.part); }
  });
  addEventListener('hashchange', open);
  open();
};

// open expands the operation named in the URL.
const open = () => {
  const box = $(decodeURIComponent(location.hash.slice(1)));
  if (!box || box.tagName !== 'DETAILS') return;
  box.open = true;
  box.scrollIntoView();
  box.querySelector('summary').focus({ preventScroll: true });
};

$('who').addEventListener('submit', (event) => event.preventDefault());
fetch('/api/v1/openapi.json').then((r) => r.json()).then((d) => { doc = d; show(); })
  .catch((e) => { $('main').replaceChildren(make('p', { role: 'alert' }, 'The document could not be loaded: ' + e.message)); });
