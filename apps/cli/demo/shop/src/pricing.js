/** The price of an order: quantity discounts, coupons, totals. */
import { percentOf } from "./money.js";

/** Buying at least `from` pieces of one product gives `percent` off that line. */
const quantityDiscounts = [
  { from: 50, percent: 15 },
  { from: 20, percent: 10 },
  { from: 10, percent: 5 },
];

/** Percent off a line of that many pieces. */
export function discountFor(quantity) {
  const tier = quantityDiscounts.find(({ from }) => quantity >= from);
  return tier ? tier.percent : 0;
}

/** Cents for one line of an order, after its quantity discount. */
export function linePrice(product, quantity) {
  const full = product.price * quantity;
  return full - percentOf(full, discountFor(quantity));
}

/** Cents a coupon takes off; it never takes off more than the amount. */
export function couponValue(coupon, amount, today) {
  if (!coupon || coupon.expires < today) return 0;
  if (coupon.minimum !== undefined && amount < coupon.minimum) return 0;
  const value = coupon.percent === undefined ? coupon.amount : percentOf(amount, coupon.percent);
  return Math.min(value, amount);
}

/** Cents for all lines, `{product, quantity}` each, less the coupon. */
export function orderTotal(lines, coupon, today) {
  const subtotal = lines.reduce((sum, { product, quantity }) => sum + linePrice(product, quantity), 0);
  return subtotal - couponValue(coupon, subtotal, today);
}
