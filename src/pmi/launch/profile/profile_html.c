/* SPDX-License-Identifier: BSD-3-Clause */
/* profile_html.c: the profile as one page for a browser, which loads nothing: the JSON, and what shows it. */
#include <stdlib.h>
#include <string.h>
#include "profile_report.h"

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Keel: profile</title>\n<style>\n"
    "body{font:14px/1.4 system-ui,sans-serif;margin:1.5em auto;max-width:76em;padding:0 1em;color:#222}\n"
    "h1{font-size:1.5em}h2{font-size:1.15em;margin:1.6em 0 .4em}\n"
    "table{border-collapse:collapse}th,td{padding:.15em .6em;text-align:right;border-bottom:1px solid #ddd}\n"
    "th{cursor:pointer;background:#f2f2f2;position:sticky;top:0}td.t,th.t{text-align:left}\n"
    ".scroll{overflow:auto;max-height:34em}.bar{height:1.1em;display:flex;min-width:24em;background:#eee}\n"
    ".bar i{display:block}.own{background:#7fb27f}.move{background:#6d9fd1}.late{background:#d9714f}\n"
    ".wait{background:#e8c15a}.key i{display:inline-block;width:1em;height:1em;margin:0 .3em 0 1em}\n"
    "#matrix td{min-width:2em;border:1px solid #fff}.hist "
    "i{display:inline-block;background:#6d9fd1;height:1em}\n"
    "</style></head><body>\n<h1>Profile</h1><p id=\"head\"></p>\n"
    "<h2>Who waited for whom</h2><div class=\"scroll\" id=\"waits\"></div>\n"
    "<h2>A line a rank</h2><p class=\"key\"><i class=\"own\"></i>outside of MPI<i class=\"move\"></i>in MPI"
    "<i class=\"wait\"></i>waiting<i class=\"late\"></i>waiting for ranks that were late</p>"
    "<div class=\"scroll\" id=\"ranks\"></div>\n"
    "<h2>Calls</h2><div class=\"scroll\" id=\"calls\"></div>\n"
    "<h2>Places</h2><div class=\"scroll\" id=\"places\"></div>\n"
    "<h2>Communicators</h2><div class=\"scroll\" id=\"comms\"></div>\n"
    "<h2>Sizes</h2><div class=\"scroll\" id=\"sizes\"></div>\n"
    "<h2>Messages from the rank on the left to that on top</h2><div class=\"scroll\" id=\"matrix\"></div>\n"
    "<script type=\"application/json\" id=\"data\">";

static const char script[] =
    "</script>\n<script>\n\"use strict\";\n"
    "const d=JSON.parse(document.getElementById('data').textContent),by=id=>document.getElementById(id);\n"
    "const s=x=>x.toFixed(3),mb=x=>(x/1e6).toFixed(3),pc=(x,y)=>y>0?(100*x/y).toFixed(1):'0.0';\n"
    "function el(tag,text,cls){const e=document.createElement(tag);if(text!==undefined)e.textContent=text;"
    "if(cls)e.className=cls;return e}\n"
    "function cmp(a,b){return typeof a==='number'&&typeof "
    "b==='number'?a-b:String(a).localeCompare(String(b))}\n"
    "/* columns: [title, row => value, value => text or element, is text] */\n"
    "function table(id,rows,columns){\n"
    "  const t=el('table'),h=el('tr'),b=el('tbody');let at=-1,up=false;\n"
    "  function fill(){b.replaceChildren(...rows.map(r=>{const tr=el('tr');\n"
    "    for(const c of columns){const v=c[1](r),x=c[2]?c[2](v,r):v,td=el('td',undefined,c[3]?'t':'');\n"
    "      td.append(x);tr.append(td)}return tr}))}\n"
    "  columns.forEach((c,i)=>{const th=el('th',c[0],c[3]?'t':'');\n"
    "    "
    "th.onclick=()=>{up=at===i?!up:!!c[3];at=i;rows.sort((x,y)=>(up?1:-1)*cmp(c[1](x),c[1](y)));fill()};\n"
    "    h.append(th)});\n"
    "  const top=el('thead');top.append(h);t.append(top,b);fill();by(id).append(t)}\n"
    "const n=d.ranks.length,run=d.run_seconds;\n"
    "by('head').textContent=n+' ranks, '+s(run/n)+' s each; in MPI '+s(d.seconds/n)+' s a rank "
    "('+pc(d.seconds,run)+"
    "' %), waiting '+s(d.waiting/n)+' s, of that for ranks that were late '+s(d.waiting_for_late/n)+' s';\n"
    "const sums=[['calls',r=>r.calls],['s a "
    "rank',r=>r.seconds/n,s],['%',r=>100*r.seconds/run,v=>v.toFixed(1)],\n"
    "  ['waiting',r=>r.waiting/n,s],['for late',r=>r.waiting_for_late/n,s],['least "
    "s',r=>r.least.seconds,s],\n"
    "  ['rank',r=>r.least.rank],['most "
    "s',r=>r.most.seconds,s],['rank',r=>r.most.rank],['MB',r=>r.bytes,mb]];\n"
    "const place=p=>p?p.call+', '+p.where:'';\n"
    "table('waits',d.waits,[['s',r=>r.seconds,s],['times',r=>r.times],['longest s',r=>r.longest,s],\n"
    "  ['who',r=>r.ranks>1?r.ranks+' ranks':'rank '+r.rank,null,1],['where',r=>place(r.here),null,1],\n"
    "  ['for rank',r=>r['for']],['that was',r=>r.why,null,1],['and was in',r=>place(r.there),null,1]]);\n"
    "const longest=Math.max(...d.ranks.map(r=>r.run_seconds),1e-9);\n"
    "function bar(v,r){const b=el('div',undefined,'bar'),w=(x,c)=>{const i=el('i',undefined,c);\n"
    "  i.style.width=100*Math.max(x,0)/longest+'%';i.title=c+' '+s(x)+' s';b.append(i)};\n"
    "  "
    "w(r.run_seconds-r.seconds,'own');w(r.seconds-r.waiting,'move');w(r.waiting-r.waiting_for_late,'wait');\n"
    "  w(r.waiting_for_late,'late');return b}\n"
    "table('ranks',d.ranks,[['rank',r=>r.rank],['host',r=>r.host,null,1],['s',r=>r.run_seconds,s],\n"
    "  ['in MPI',r=>r.seconds,s],['waiting',r=>r.waiting,s],['for late',r=>r.waiting_for_late,s],\n"
    "  ['caused',r=>r.caused,s],['memory MB',r=>r.memory,v=>(v/1e6).toFixed(1)],['',r=>r.seconds,bar],\n"
    "  ['now',r=>r.inside?place(r.inside)+' for '+s(r.inside.seconds)+' s':'',null,1]]);\n"
    "table('calls',d.calls,[['call',r=>r.call,null,1],...sums]);\n"
    "table('places',d.places,[['place',r=>place(r),null,1],...sums,['longest s',r=>r.longest,s]]);\n"
    "table('comms',d.communicators,[['communicator',r=>r.name||'unnamed',null,1],['size',r=>r.size],...sums])"
    ";\n"
    "const many=Math.max(...d.sizes.map(r=>r.messages),1);\n"
    "function hist(v){const e=el('span',undefined,'hist'),i=el('i');i.style.width=20*v/many+'em';"
    "e.append(i,' '+v);return e}\n"
    "table('sizes',d.sizes,[['bytes, at least',r=>r.least],['calls',r=>r.calls],['s a "
    "rank',r=>r.seconds/n,s],\n"
    "  ['waiting',r=>r.waiting/n,s],['MB',r=>r.bytes,mb],['messages',r=>r.messages,hist,1]]);\n"
    "const pairs=new Map();let top=1;\n"
    "for(const m of d.messages){const k=m.from+','+m.to,p=pairs.get(k)||{n:0,bytes:0};p.n+=m.messages;\n"
    "  p.bytes+=m.bytes;pairs.set(k,p);top=Math.max(top,p.bytes)}\n"
    "if(d.job_ranks<=256){const t=el('table'),h=el('tr');h.append(el('th',''));\n"
    "  for(let j=0;j<d.job_ranks;j++)h.append(el('th',j));t.append(h);\n"
    "  for(let i=0;i<d.job_ranks;i++){const tr=el('tr');tr.append(el('th',i));\n"
    "    for(let j=0;j<d.job_ranks;j++){const p=pairs.get(i+','+j),td=el('td',p&&d.job_ranks<=32?p.n:'');\n"
    "      if(p){td.title=i+' to '+j+': '+p.n+' messages, '+mb(p.bytes)+' MB';\n"
    "        td.style.background='rgba(109,159,209,'+(.15+.85*p.bytes/top)+')'}tr.append(td)}t.append(tr)}\n"
    "  by('matrix').append(t)}\n"
    "else table('matrix',[...pairs].map(([k,p])=>({k,...p})).sort((a,b)=>b.bytes-a.bytes).slice(0,1000),\n"
    "  [['from, to',r=>r.k,null,1],['messages',r=>r.n],['MB',r=>r.bytes,mb]]);\n"
    "</script></body></html>\n";

/* In a script element '<' could end it. */
static void html_data(FILE *out, const char *json)
{
    for (; *json; json++)
        if (*json == '<')
            fputs("\\u003c", out);
        else
            putc(*json, out);
}

void prof_html(FILE *out, const struct prof_all *a)
{
    char *text = NULL;
    size_t len;
    FILE *json = open_memstream(&text, &len);
    fputs(head, out);
    if (json) {
        prof_json(json, a);
        if (fclose(json) == 0)
            html_data(out, text);
    }
    free(text);
    fputs(script, out);
}
