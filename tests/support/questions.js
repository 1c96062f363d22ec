// Checks a page from an enclosing page, so that no script is added to the page itself.
function ask(frame) {
  const [win, page] = [frame.contentWindow, frame.contentDocument];
  const all = (what, of = page) => [...of.querySelectorAll(what)];
  const seen = one => one.getClientRects().length > 0;
  const named = one => one.tagName + "." + one.getAttribute("class") + " " + one.textContent.trim().slice(0, 40);
  const box = one => one.getBoundingClientRect();

  // Effective colours, blended with all backgrounds.
  const rgba = text => {
    const numbers = (text.match(/[\d.]+/g) || [0, 0, 0, 0]).map(Number);
    return numbers.length > 3 ? numbers : [...numbers, 1];
  };
  const over = ([r, g, b, a], under) => [r, g, b].map((part, i) => part * a + under[i] * (1 - a));
  const ground = one => {
    const above = [];
    for (let at = one; at; at = at.parentElement) above.push(rgba(win.getComputedStyle(at).backgroundColor));
    return above.reduceRight((under, colour) => over(colour, under), [255, 255, 255]);
  };
  const light = colour => {
    const [r, g, b] = colour.map(part => part / 255).map(p => p <= 0.04045 ? p / 12.92 : ((p + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (one, property) => {
    const [style, under] = [win.getComputedStyle(one), ground(one)];
    const colour = rgba(style[property]);
    for (let at = one; at; at = at.parentElement) colour[3] *= Number(win.getComputedStyle(at).opacity);
    const [more, less] = [light(over(colour, under)), light(under)].sort((a, b) => b - a);
    return (more + 0.05) / (less + 0.05);
  };
  const least = (ones, of) => ones.map(one => [of(one), named(one)]).sort((a, b) => a[0] - b[0])[0] || [1000, ""];

  const inDrawing = all("svg text").filter(seen);
  const written = all("body *").filter(one => seen(one) && !one.closest("svg") &&
    [...one.childNodes].some(node => node.nodeType === 3 && node.textContent.trim()));
  const outside = all("body *").filter(one => {
    if (one.closest(".scroll table, .wide table") || one.closest("svg")) return false;
    return box(one).width > 0 && (box(one).right > win.innerWidth + 0.5 || box(one).left < -0.5);
  });
  const cutOff = inDrawing.filter(text => {
    const [letters, edge] = [box(text), box(text.closest("svg"))];
    return letters.left < edge.left - 1 || letters.right > edge.right + 1 ||
      letters.top < edge.top - 1 || letters.bottom > edge.bottom + 1;
  });
  const overlap = (a, b) => a.right > b.left + 0.5 && b.right > a.left + 0.5 && a.bottom > b.top + 3 && b.bottom > a.top + 3;
  const crowded = all("svg").flatMap(svg => {
    const texts = all("text", svg).filter(text => seen(text) && text.textContent.trim());
    return texts.flatMap((one, i) => texts.slice(i + 1).filter(other => overlap(box(one), box(other))).map(other =>
      named(one) + " / " + named(other)));
  });
  // Tables may scroll horizontally on a narrow screen, but not on a wide one.
  const scrolled = all(".scroll, .wide, pre").filter(one => one.scrollWidth > one.clientWidth + 1).map(named);

  // Curves, dots and the areas of the map.
  const drawn = "polyline[stroke-width='2'], circle[fill^='#'], #map rect[fill^='#']";
  const colour = one => win.getComputedStyle(one)[one.tagName === "polyline" ? "stroke" : "fill"];
  const charts = all(".chart svg").filter(seen);
  const unexplained = charts.filter(svg => {
    const keys = all(".key", svg.closest("figure")).map(key => win.getComputedStyle(key).backgroundColor);
    const curves = new Set(all(drawn, svg).map(colour));
    const told = keys.length > 0 ? new Set(keys) : new Set([...curves].slice(0, 1));
    return keys.length > new Set(keys).size || told.size !== curves.size || [...curves].some(one => !told.has(one));
  });
  // The key explains rings and error bars, and only those that are drawn.
  const unsigned = charts.filter(svg => {
    const signs = what => all(".sign." + what, svg.closest("figure")).length;
    const rings = all("circle[fill=none]", svg).length;
    const bars = all("line", svg).filter(line => line.getAttribute("stroke") !== "#E1E5EA").length;
    return signs("ring") !== Math.min(rings, 1) || signs("bar") !== Math.min(bars, 1);
  });
  const points = svg => all("polyline[stroke-width='2']", svg).map(line => line.points.numberOfItems);
  return {
    width: win.innerWidth, scroll: page.documentElement.scrollWidth, outside: outside.map(named),
    scrolled, cutOff: cutOff.map(named), crowded,
    letters: least(inDrawing, text => parseFloat(win.getComputedStyle(text).fontSize) * text.getScreenCTM().a),
    charts: charts.length, empty: charts.filter(svg => all(drawn, svg).length === 0).length,
    unexplained: unexplained.concat(unsigned).map(svg => svg.getAttribute("aria-label")),
    contrast: least([...written.map(one => [one, "color"]), ...inDrawing.map(one => [one, "fill"])]
      .map(([one, property]) => Object.assign(one, { least: contrast(one, property) })), one => one.least),
    curveContrast: least(charts.flatMap(svg => all(drawn, svg)), one =>
      contrast(one, one.tagName === "polyline" ? "stroke" : "fill")),
    requests: win.performance.getEntriesByType("resource").map(one => one.name),
    ground: win.getComputedStyle(page.body).backgroundColor,
    line: charts.length ? colour(charts[0].querySelector(drawn)) : "",
    // A sentence, or in the bench a table of all beds.
    answerFirst: !!(page.querySelector(".headline, table.all").compareDocumentPosition(page.querySelector("section")) & 4),
    points: Object.fromEntries(charts.map(svg => [svg.closest("section").id + svg.closest("figure").className, points(svg)])),
  };
}
addEventListener("load", () => setTimeout(() => {
  document.documentElement.dataset.answer = JSON.stringify([...document.querySelectorAll("iframe")].map(ask));
}, 100));
