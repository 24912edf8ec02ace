/** Amounts of money, kept as whole cents. */

const centsPerUnit = 100;

/** "12.50" or "12" to cents; throws for anything else. */
export function parseMoney(text) {
  const match = /^(\d+)(?:\.(\d{2}))?$/.exec(text.trim());
  if (!match) throw new Error(`not an amount: ${text}`);
  const [, units, cents = "0"] = match;
  return Number(units) * centsPerUnit + Number(cents);
}

/** 1250 to "12.50". */
export function formatMoney(cents) {
  const units = Math.floor(cents / centsPerUnit);
  const rest = String(cents % centsPerUnit).padStart(2, "0");
  return `${units}.${rest}`;
}

/** The given percentage of an amount, rounded to whole cents. */
export function percentOf(amount, percent) {
  return Math.round((amount * percent) / 100);
}
