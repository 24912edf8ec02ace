import { training, heldOut } from "./tasks.test.ts";
import { drawSessions, play, oracle, type Policy } from "./simulation.test.ts";
import { always, router, listPriceRouter, freeSwitchRouter, withWorth, scaled } from "./policies.test.ts";
import { shippedWeights } from "./shipped-weights.ts";
const sessions = drawSessions(training, 1500, 7);
const show=(name:string,p:Policy)=>{const t0=performance.now();const all=sessions.flatMap(s=>play(s,p));const n=all.length;
 const m=(f:any)=>all.reduce((a,x)=>a+f(x),0)/n;
 const share=(t:string)=>Math.round(100*m((x:any)=>x.choice.tier===t?1:0));
 console.log(name.padEnd(28),"q",m((x:any)=>x.success).toFixed(4),"cost",m((x:any)=>x.cost).toFixed(4),"sw",m((x:any)=>x.switches).toFixed(2),"S/M/L",share("small"),share("medium"),share("large"),(performance.now()-t0).toFixed(0)+"ms",n);};
show("small",always("small"));show("medium",always("medium"));show("large",always("large"));
for(const [l,o,h] of [[1,3,8],[.3,1,3],[.3,.6,1.5],[.2,.4,1]] as any) for(const k of [.5,1,2,4]){const w={light:l*k,ordinary:o*k,hard:h*k};
 show(`oracle ${l},${o},${h} x${k}`,oracle(w));
 show(`router ${l},${o},${h} x${k}`,router({weights:withWorth(w)}));
 show(`list  ${l},${o},${h} x${k}`,listPriceRouter({weights:withWorth(w)}));
 show(`free  ${l},${o},${h} x${k}`,freeSwitchRouter({weights:withWorth(w)}));}
