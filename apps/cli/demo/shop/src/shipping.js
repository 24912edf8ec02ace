/** Parcels and postage. Weights are in grams. */

const heaviestParcel = 20_000;

const rates = [
  { upTo: 500, price: 290 },
  { upTo: 2_000, price: 490 },
  { upTo: 10_000, price: 890 },
  { upTo: heaviestParcel, price: 1_490 },
];

/** Weight of all lines, `{product, quantity}` each. */
export function totalWeight(lines) {
  return lines.reduce((sum, { product, quantity }) => sum + product.weight * quantity, 0);
}

/** How many parcels an order of this weight needs. */
export function parcelCount(weight) {
  return Math.ceil(weight / heaviestParcel);
}

/** Postage of one parcel; throws when it is too heavy. */
export function parcelRate(weight) {
  const rate = rates.find(({ upTo }) => weight <= upTo);
  if (!rate) throw new Error(`a parcel of ${weight} g is too heavy`);
  return rate.price;
}

/** Postage of an order: full parcels first, then the rest. */
export function postage(weight) {
  if (weight === 0) return 0;
  const full = parcelCount(weight) - 1;
  const rest = weight - full * heaviestParcel;
  return full * parcelRate(heaviestParcel) + parcelRate(rest);
}
