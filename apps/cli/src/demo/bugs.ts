/** The bugs that `lathe demo` can put into its sample project. */

export interface Bug {
  /** Relative to the sample project. */
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** Explains the bug to the person who watches. */
  readonly description: string;
}

export const bugs: readonly Bug[] = [
  {
    file: "src/pricing.js",
    find: "quantity >= from",
    replace: "quantity > from",
    description: "a quantity discount begins one piece too late",
  },
  {
    file: "src/sales.js",
    find: "const start = (page - 1) * size;",
    replace: "const start = page * size;",
    description: "the first page of a list is skipped",
  },
  {
    file: "src/storage.js",
    find: "const result = await change(shop);",
    replace: "const result = change(shop);",
    description: "the shop is saved before a slow change has happened",
  },
  {
    file: "src/orders.js",
    find: "const goods = orderTotal(lines, request.coupon, request.date);",
    replace: "const goods = orderTotal(lines, request.date, request.coupon);",
    description: "the coupon and the date of an order are mixed up",
  },
  {
    file: "src/inventory.js",
    find: "this.#shelves.set(code, { ...shelf, reserved: shelf.reserved - released });",
    replace: "this.#shelves.set(code, { ...shelf, reserved: shelf.reserved - quantity });",
    description: "more pieces are given back than were ever reserved",
  },
  {
    file: "src/sales.js",
    find: 'if (order.status === "cancelled") continue;\n    if (order.date < from',
    replace: "if (order.date < from",
    description: "cancelled orders count as revenue",
  },
  {
    file: "src/money.js",
    find: "String(cents % centsPerUnit).padStart(2,",
    replace: "String(cents % centsPerUnit).padStart(1,",
    description: "amounts such as 7.05 are written as 7.5",
  },
  {
    file: "src/shipping.js",
    find: "const full = parcelCount(weight) - 1;",
    replace: "const full = parcelCount(weight);",
    description: "an order is charged for one parcel too many",
  },
];
