/** The price list: products by code, read from CSV. */
import { parseMoney } from "./money.js";

const columns = ["code", "name", "price", "weight"];

/** Splits one CSV line; a field may be quoted to hold a comma, with "" for a quote. */
export function splitLine(line) {
  const fields = [];
  let field = "";
  let quoted = false;
  for (let i = 0; i < line.length; i++) {
    const char = line[i];
    if (quoted && char === '"' && line[i + 1] === '"') {
      field += '"';
      i++;
    } else if (char === '"') {
      quoted = !quoted;
    } else if (char === "," && !quoted) {
      fields.push(field);
      field = "";
    } else {
      field += char;
    }
  }
  fields.push(field);
  return fields;
}

/** CSV with a header line to a Map of products by code. Empty lines and lines that begin with # are skipped. */
export function readCatalogue(csv) {
  const lines = csv.split(/\r?\n/).filter((line) => line.trim() !== "" && !line.startsWith("#"));
  const [header, ...rows] = lines.map(splitLine);
  const missing = columns.filter((column) => !header.includes(column));
  if (missing.length > 0) throw new Error(`missing columns: ${missing.join(", ")}`);
  const products = new Map();
  for (const row of rows) {
    const field = (column) => row[header.indexOf(column)].trim();
    const code = field("code");
    products.set(code, {
      code,
      name: field("name"),
      price: parseMoney(field("price")),
      weight: Number(field("weight")),
    });
  }
  return products;
}
