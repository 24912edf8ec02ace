/** Figures about past orders. */

/** One page of a list, counted from 1. */
export function pageOf(list, page, size) {
  const start = (page - 1) * size;
  return list.slice(start, start + size);
}

/** Revenue in cents between two dates, both included; cancelled orders do not count. */
export function revenue(orders, from, to) {
  let sum = 0;
  for (const order of orders) {
    if (order.status === "cancelled") continue;
    if (order.date < from || order.date > to) continue;
    sum += order.total;
  }
  return sum;
}

/** Pieces sold by product code. */
export function piecesSold(orders) {
  const pieces = new Map();
  for (const order of orders) {
    if (order.status === "cancelled") continue;
    for (const { code, quantity } of order.lines) {
      pieces.set(code, (pieces.get(code) ?? 0) + quantity);
    }
  }
  return pieces;
}

/** The `count` best-selling codes, best first; ties in alphabetical order. */
export function bestSellers(orders, count) {
  return [...piecesSold(orders)]
    .sort(([codeA, a], [codeB, b]) => b - a || codeA.localeCompare(codeB))
    .slice(0, count)
    .map(([code]) => code);
}

/** The median of the orders' totals; the mean of the middle two if their number is even. */
export function medianTotal(orders) {
  if (orders.length === 0) return 0;
  const totals = orders.map((order) => order.total).sort((a, b) => a - b);
  const middle = Math.floor(totals.length / 2);
  if (totals.length % 2 === 1) return totals[middle];
  return (totals[middle - 1] + totals[middle]) / 2;
}

/** Customers by name, with the number of their orders and the amount they spent. */
export function customerReport(orders) {
  const report = {};
  for (const { customer, total } of orders) {
    const entry = report[customer] ?? { orders: 0, spent: 0 };
    report[customer] = { orders: entry.orders + 1, spent: entry.spent + total };
  }
  return report;
}
