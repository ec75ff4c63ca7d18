(function () {
  'use strict';
  var list = Array.prototype.slice.call(document.querySelectorAll('table.items>tbody,table:not(.items)>tbody>tr,.finding'));
  if (list.length < 8) { return; }
  var items = list.map(function (node) {
    var badge = node.querySelector('.badge');
    return { node: node, badge: badge ? badge.textContent.trim() : '', text: null };
  });
  var badges = {};
  items.forEach(function (item) { if (item.badge) { badges[item.badge] = (badges[item.badge] || 0) + 1; } });
  function add(parent, tag, properties) {
    var node = document.createElement(tag);
    Object.keys(properties).forEach(function (name) { node[name] = properties[name]; });
    parent.appendChild(node);
    return node;
  }
  var form = document.createElement('form');
  form.className = 'finder';
  form.setAttribute('role', 'search');
  var field = add(add(form, 'label', { textContent: 'Search ' }), 'input', { type: 'search', maxLength: 200 });
  var choice = add(add(form, 'label', { textContent: 'Show ' }), 'select', {});
  add(choice, 'option', { value: '', textContent: 'everything' });
  Object.keys(badges).sort().forEach(function (name) {
    add(choice, 'option', { value: name, textContent: name + ' (' + badges[name] + ')' });
  });
  var toggle = add(form, 'button', { type: 'button', textContent: 'Expand all' });
  var count = add(form, 'output', {});
  count.setAttribute('aria-live', 'polite');
  function setOpen(open) {
    document.querySelectorAll('details').forEach(function (node) { node.open = open; });
    toggle.textContent = open ? 'Collapse all' : 'Expand all';
  }
  function apply() {
    var query = field.value.trim().toLowerCase(), shown = 0;
    items.forEach(function (item) {
      if (query && item.text === null) { item.text = item.node.textContent.toLowerCase(); }
      var match = (!query || item.text.indexOf(query) >= 0) && (!choice.value || item.badge === choice.value);
      item.node.hidden = !match;
      shown += match ? 1 : 0;
    });
    count.textContent = query || choice.value ? shown + ' of ' + items.length + ' entries' : '';
  }
  var timer;
  field.addEventListener('input', function () { clearTimeout(timer); timer = setTimeout(apply, 150); });
  choice.addEventListener('change', apply);
  form.addEventListener('submit', function (event) { event.preventDefault(); apply(); });
  toggle.addEventListener('click', function () { setOpen(toggle.textContent === 'Expand all'); });
  window.addEventListener('beforeprint', function () { setOpen(true); });
  var main = document.getElementById('content');
  main.insertBefore(form, main.firstChild);
}());
