/** Placing and cancelling orders. */
import { orderTotal } from "./pricing.js";
import { postage, totalWeight } from "./shipping.js";

/** Looks up the wishes, `{code, quantity}` each; unknown and empty ones are errors. */
function linesOf(wishes, catalogue) {
  return wishes.map(({ code, quantity }) => {
    const product = catalogue.get(code);
    if (!product) throw new Error(`no such product: ${code}`);
    if (quantity < 1) throw new Error(`${code}: nothing ordered`);
    return { product, quantity };
  });
}

/** Reserves every line or none; returns the code that is short, if one is. */
function reserveAll(lines, inventory) {
  const done = [];
  for (const { product, quantity } of lines) {
    if (!inventory.reserve(product.code, quantity)) {
      for (const line of done) inventory.release(line.product.code, line.quantity);
      return product.code;
    }
    done.push({ product, quantity });
  }
  return undefined;
}

/** Makes a new order and reserves its goods. `shop` is `{catalogue, inventory}`; `request` is `{customer, wishes, coupon, date}`. */
export function placeOrder(shop, request) {
  const lines = linesOf(request.wishes, shop.catalogue);
  const short = reserveAll(lines, shop.inventory);
  if (short) throw new Error(`not enough in stock: ${short}`);
  const goods = orderTotal(lines, request.coupon, request.date);
  const shipping = postage(totalWeight(lines));
  return {
    customer: request.customer,
    date: request.date,
    status: "open",
    lines: lines.map(({ product, quantity }) => ({ code: product.code, quantity })),
    goods,
    shipping,
    total: goods + shipping,
  };
}

/** Cancels the order and releases its goods. A sent order cannot be cancelled. */
export function cancelOrder(shop, order) {
  if (order.status !== "open") throw new Error(`cannot cancel: the order is ${order.status}`);
  for (const { code, quantity } of order.lines) shop.inventory.release(code, quantity);
  return { ...order, status: "cancelled" };
}

/** Marks the order as sent and ships its goods. */
export function shipOrder(shop, order) {
  for (const { code, quantity } of order.lines) shop.inventory.ship(code, quantity);
  return { ...order, status: "sent" };
}
