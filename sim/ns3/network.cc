/* SPDX-License-Identifier: MPL-2.0 */
/* ns-3 as the network of a scenario.
 *
 * The engines run where they always run, in the hosts of a stage with its
 * clock; what they send is taken off their first link, carried by ns-3 over UDP
 * sockets, IPv4, queues and links of its own, and handed to the host that it is
 * for.  The stage's clock follows ns-3's.  Flows that are named
 * native.GROUP=TYPE are played by ns-3's TCP instead.
 *
 * Limits: a link has one delay for both directions and no impairment but loss;
 * PPP adds two bytes to every packet. */
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <vector>

extern "C" {
#include "sim/show.h"
}

using namespace ns3;

namespace {

using LinkStats = struct sim_link_stats; // a function has that name too

constexpr uint16_t FIRST_PORT = 9000; // of UDP: the stage's port 0
constexpr uint16_t TCP_PORT = 5000;
constexpr uint32_t ENDLESS_QUEUE = 1000000; // packets
constexpr double FAST = 100e9; // bit/s where a scenario has no limit
constexpr uint64_t LATE = uint64_t(1)
                          << 62; // ns: flows that ns-3 plays instead
constexpr uint32_t SMALL =
    200; // a packet below this carries no data to speak of
constexpr uint32_t TCP_IP = 40;
constexpr uint64_t LEAST_PACKET = 1228; // of the engine, with IP and UDP
constexpr uint32_t WINDOW = 10000;      // packets, where a scenario gives none

std::string Packets(uint64_t n) {
    return std::to_string(n) + "p";
}

std::string Rate(double bps) {
    return std::to_string(uint64_t(bps > 0 ? bps : FAST)) + "bps";
}

class Carrier {
  public:
    std::map<std::string, std::string> native; // group: TypeId of its TCP

    bool Adapt(scenario *s, char *why);
    bool Open(stage *t, char *why);
    void Run();
    const LinkStats *Link(uint32_t link) const {
        return &m_stats[link];
    }
    bool Take(const sim_packet *p);

  private:
    Ptr<NetDevice> Join(Ptr<Node> a, Ptr<Node> b, const sim_link_config &there,
                        const sim_link_config &back);
    bool Links(char *why);
    void Watch(Ptr<NetDevice> from, Ptr<NetDevice> to, uint32_t link);
    void Red(Ptr<NetDevice> device, const sim_link_config &c);
    void Lossy(Ptr<NetDevice> device, const sim_link_config &c);
    void Host(flow *f);
    void Native(flow *f, const std::string &type, Ptr<Node> from, Ptr<Node> to);
    Ptr<Socket> SocketOf(uint64_t address);
    void Receive(Ptr<Socket> socket);
    void CatchUp();

    stage *m_stage = nullptr;
    const scenario *m_scenario = nullptr;
    NodeContainer m_routers;
    InternetStackHelper m_internet;
    Ipv4AddressHelper m_addresses;
    std::vector<LinkStats> m_stats;
    std::map<uint32_t, Ptr<Node>> m_hosts; // by node of the stage
    std::map<uint32_t, uint32_t> m_nodes;  // node of the stage by IPv4 address
    std::map<uint64_t, Ptr<Socket>> m_sockets; // by address of the stage
    std::map<Ptr<Socket>, uint64_t> m_owners;
    EventId m_next;
    uint64_t m_armed = SIM_NEVER;
    uint8_t m_buf[65536];
};

uint64_t Now() {
    return uint64_t(Simulator::Now().GetNanoSeconds());
}

bool Carrier::Adapt(scenario *s, char *why) {
    for (uint32_t i = 0; i < s->n_flows; i++) {
        const scenario_flow &f = s->flows[i];
        if (f.kind == SCENARIO_TLTCP && f.packet < LEAST_PACKET &&
            native.count(f.name) == 0) {
            snprintf(why, SCENARIO_WHY_MAX,
                     "flow %s: packet must be %u or more; here the engine's "
                     "true sizes count",
                     f.name, unsigned(LEAST_PACKET));
            return false;
        }
    }
    for (const auto &[group, type] : native) {
        bool known = false;
        TypeId id;
        if (!TypeId::LookupByNameFailSafe(type, &id)) {
            snprintf(why, SCENARIO_WHY_MAX, "native.%s: ns-3 has no %s",
                     group.c_str(), type.c_str());
            return false;
        }
        for (uint32_t i = 0; i < s->n_flows; i++) {
            if (group == s->flows[i].name) {
                s->flows[i].start += LATE;
                known = true;
            }
        }
        if (!known) {
            snprintf(why, SCENARIO_WHY_MAX, "native.%s: there is no such flow",
                     group.c_str());
            return false;
        }
    }
    m_scenario = s;
    return true;
}

// --- Links ---

sim_link_config Plain(double rate, uint64_t delay) {
    sim_link_config c;
    sim_link_config_init(&c);
    c.rate = rate;
    c.delay = delay;
    return c;
}

bool CanCarry(const sim_link_config &c) {
    return c.jitter == 0 && c.slot_max == 0 && c.bit_error == 0 &&
           c.burst_enter == 0 && c.corrupt == 0 && c.duplicate == 0 && c.reorder == 0 &&
           c.blackout_length == 0 && c.limit_bytes == 0 && c.limit_time == 0 &&
           !c.lower_effort && c.mark_above == 0 && c.mtu == 0;
}

// What waits behind the packet that is being sent: ns-2 counts otherwise.
uint64_t Waiting(const sim_link_config &c) {
    if (c.limit_packets == 0) {
        return ENDLESS_QUEUE;
    }
    return std::max<uint64_t>(c.limit_packets - (c.rule == SIM_QUEUE_NS2), 1);
}

void Carrier::Red(Ptr<NetDevice> device, const sim_link_config &c) {
    const double never = 1e6; // thresholds above this stand for drop-tail
    if (!c.red_on || c.red.thresh > never) {
        return;
    }
    TrafficControlHelper helper;
    helper.SetRootQueueDisc(
        "ns3::RedQueueDisc", "MinTh", DoubleValue(c.red.thresh), "MaxTh",
        DoubleValue(c.red.maxthresh), "MaxSize",
        QueueSizeValue(QueueSize(Packets(Waiting(c)))), "MeanPktSize",
        UintegerValue(uint32_t(c.red.mean_pktsize)), "QW",
        DoubleValue(c.red.q_weight), "LInterm", DoubleValue(1 / c.red.max_p),
        "Gentle", BooleanValue(c.red.gentle), "Wait", BooleanValue(c.red.wait),
        "UseEcn", BooleanValue(false), "LinkBandwidth",
        DataRateValue(DataRate(Rate(c.rate))), "LinkDelay",
        TimeValue(NanoSeconds(c.delay)));
    helper.Install(device);
    DynamicCast<PointToPointNetDevice>(device)->GetQueue()->SetMaxSize(
        QueueSize("1p"));
}

void Carrier::Lossy(Ptr<NetDevice> device, const sim_link_config &c) {
    if (c.loss > 0) {
        Ptr<RateErrorModel> model = CreateObject<RateErrorModel>();
        model->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
        model->SetRate(c.loss);
        device->SetAttribute("ReceiveErrorModel", PointerValue(model));
    }
}

// Gives the device at a; its peer is that at b.
Ptr<NetDevice> Carrier::Join(Ptr<Node> a, Ptr<Node> b,
                             const sim_link_config &there,
                             const sim_link_config &back) {
    PointToPointHelper helper;
    TrafficControlHelper none;
    helper.SetChannelAttribute("Delay", TimeValue(NanoSeconds(there.delay)));
    NetDeviceContainer both = helper.Install(a, b);
    const sim_link_config *configs[] = {&there, &back};
    for (uint32_t i = 0; i < 2; i++) {
        Ptr<PointToPointNetDevice> d =
            DynamicCast<PointToPointNetDevice>(both.Get(i));
        d->SetAttribute("DataRate",
                        DataRateValue(DataRate(Rate(configs[i]->rate))));
        d->GetQueue()->SetMaxSize(QueueSize(Packets(Waiting(*configs[i]))));
        Red(d, *configs[i]);
        Lossy(both.Get(1 - i), *configs[i]);
    }
    m_addresses.Assign(both);
    m_addresses.NewNetwork();
    // Assign() puts FqCoDel on every device that has no queue disc.
    for (uint32_t i = 0; i < 2; i++) {
        Ptr<TrafficControlLayer> layer =
            both.Get(i)->GetNode()->GetObject<TrafficControlLayer>();
        Ptr<QueueDisc> disc = layer->GetRootQueueDiscOnDevice(both.Get(i));
        if (disc && !DynamicCast<RedQueueDisc>(disc)) {
            none.Uninstall(both.Get(i));
        }
    }
    return both.Get(0);
}

void OnOffered(LinkStats *s, Ptr<const Packet> p) {
    s->offered++;
    s->offered_bytes += p->GetSize();
}

void OnDelivered(LinkStats *s, Ptr<const Packet> p) {
    s->delivered++;
    s->delivered_bytes += p->GetSize();
    s->wire_bytes += p->GetSize();
}

void OnFull(LinkStats *s, Ptr<const Packet> p) {
    OnOffered(s, p);
    s->dropped_queue++;
}

void OnEarly(LinkStats *s, Ptr<const QueueDiscItem>) {
    s->offered++;
    s->dropped_red++;
}

void OnLost(LinkStats *s, Ptr<const Packet>) {
    s->dropped_loss++;
}

void Carrier::Watch(Ptr<NetDevice> from, Ptr<NetDevice> to, uint32_t link) {
    LinkStats *s = &m_stats[link];
    from->TraceConnectWithoutContext("MacTx", MakeBoundCallback(&OnOffered, s));
    to->TraceConnectWithoutContext("MacRx", MakeBoundCallback(&OnDelivered, s));
    to->TraceConnectWithoutContext("PhyRxDrop", MakeBoundCallback(&OnLost, s));
    Ptr<TrafficControlLayer> layer =
        from->GetNode()->GetObject<TrafficControlLayer>();
    Ptr<QueueDisc> disc = layer->GetRootQueueDiscOnDevice(from);
    // Without a queue disc it is the layer that drops what a device has no room
    // for; it does not say which, but of a router's links one has a limit.
    if (m_scenario->links[link].config.limit_packets != 0) {
        layer->TraceConnectWithoutContext("TcDrop",
                                          MakeBoundCallback(&OnFull, s));
    }
    if (disc) {
        disc->TraceConnectWithoutContext("Drop",
                                         MakeBoundCallback(&OnEarly, s));
    }
}

bool Carrier::Links(char *why) {
    const scenario *s = m_scenario;
    std::vector<bool> done(s->n_links, false);
    for (uint32_t i = 0; i < s->n_links; i++) {
        const scenario_link &there = s->links[i];
        uint32_t j = i + 1;
        while (j < s->n_links && (s->links[j].from != there.to ||
                                  s->links[j].to != there.from || done[j])) {
            j++;
        }
        if (done[i]) {
            continue;
        }
        if (j == s->n_links || s->links[j].config.delay != there.config.delay ||
            !CanCarry(there.config) || !CanCarry(s->links[j].config)) {
            snprintf(why, SCENARIO_WHY_MAX,
                     "link %s %s: in ns-3 a link has two directions, one delay "
                     "and no impairment but loss",
                     s->nodes[there.from], s->nodes[there.to]);
            return false;
        }
        done[i] = done[j] = true;
        Ptr<NetDevice> near =
            Join(m_routers.Get(there.from), m_routers.Get(there.to),
                 there.config, s->links[j].config);
        Ptr<NetDevice> far = near->GetChannel()->GetDevice(1);
        Watch(near, far, i);
        Watch(far, near, j);
    }
    return true;
}

// --- Hosts ---

void OnArrival(flow_arrivals *a, Ptr<const Packet> p) {
    a->packets++;
    a->full += p->GetSize() >= SMALL;
    a->bytes += p->GetSize();
}

// ns-3 limits the window by the send buffer: with a receive buffer below 64 KiB
// its TCP crashes at the first loss, in TcpRateLinux::SkbSent (3.37).
void Carrier::Native(flow *f, const std::string &type, Ptr<Node> from,
                     Ptr<Node> to) {
    const scenario_flow *spec = f->spec;
    uint32_t mss = uint32_t(spec->packet) - TCP_IP;
    uint32_t window = spec->window != 0 ? uint32_t(spec->window) : WINDOW;
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(mss));
    Config::SetDefault("ns3::TcpSocket::SndBufSize",
                       UintegerValue(window * mss));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize",
                       UintegerValue(std::max(2 * window, 1000U) * mss));
    from->GetObject<TcpL4Protocol>()->SetAttribute(
        "SocketType", TypeIdValue(TypeId::LookupByName(type)));
    Ipv4Address where = to->GetObject<Ipv4>()->GetAddress(1, 0).GetLocal();
    BulkSendHelper source("ns3::TcpSocketFactory",
                          InetSocketAddress(where, TCP_PORT));
    source.SetAttribute("SendSize", UintegerValue(mss));
    ApplicationContainer app = source.Install(from);
    app.Start(NanoSeconds(f->start_at - LATE));
    if (spec->stop != SIM_NEVER) {
        app.Stop(NanoSeconds(spec->stop));
    }
    PacketSinkHelper("ns3::TcpSocketFactory",
                     InetSocketAddress(Ipv4Address::GetAny(), TCP_PORT))
        .Install(to);
    to->GetDevice(1)->TraceConnectWithoutContext(
        "MacRx", MakeBoundCallback(&OnArrival, &f->there));
}

void Carrier::Host(flow *f) {
    const scenario_flow *spec = f->spec;
    NodeContainer ends;
    ends.Create(2);
    m_internet.Install(ends);
    sim_link_config access = Plain(spec->access_rate, spec->access_delay);
    sim_link_config exit = Plain(spec->exit_rate, f->exit_delay);
    Join(ends.Get(0), m_routers.Get(spec->from), access, access);
    Join(ends.Get(1), m_routers.Get(spec->to), exit, exit);
    uint32_t nodes[] = {f->from, f->to};
    for (uint32_t i = 0; i < 2; i++) {
        Ptr<Node> n = ends.Get(i);
        m_hosts[nodes[i]] = n;
        m_nodes[n->GetObject<Ipv4>()->GetAddress(1, 0).GetLocal().Get()] =
            nodes[i];
    }
    auto type = native.find(spec->name);
    if (type != native.end()) {
        Native(f, type->second, ends.Get(0), ends.Get(1));
    }
}

// The socket of an address of the stage.
Ptr<Socket> Carrier::SocketOf(uint64_t address) {
    Ptr<Socket> &socket = m_sockets[address];
    if (!socket) {
        uint16_t port = uint16_t(FIRST_PORT + (address >> 32));
        socket = Socket::CreateSocket(m_hosts.at(sim_address_node(address)),
                                      UdpSocketFactory::GetTypeId());
        socket->Bind(InetSocketAddress(Ipv4Address::GetAny(), port));
        socket->SetRecvCallback(MakeCallback(&Carrier::Receive, this));
        m_owners[socket] = address;
    }
    return socket;
}

// A packet leaves a host of the stage.
bool Carrier::Take(const sim_packet *p) {
    SocketOf(p->dst);
    Ptr<Node> to = m_hosts.at(sim_address_node(p->dst));
    InetSocketAddress where(to->GetObject<Ipv4>()->GetAddress(1, 0).GetLocal(),
                            uint16_t(FIRST_PORT + (p->dst >> 32)));
    SocketOf(p->src)->SendTo(Create<Packet>(p->data, p->len), 0, where);
    return false; // it is ns-3's now
}

void Carrier::Receive(Ptr<Socket> socket) {
    sim_loop *loop = sim_net_loop(m_stage->net);
    uint64_t dst = m_owners.at(socket);
    Address from;
    sim_loop_run(loop, Now());
    while (Ptr<Packet> p = socket->RecvFrom(from)) {
        InetSocketAddress sender = InetSocketAddress::ConvertFrom(from);
        uint32_t len = p->CopyData(m_buf, sizeof(m_buf));
        sim_packet *q = sim_packet_new(m_buf, len);
        if (q != nullptr) {
            q->src = sim_address(m_nodes.at(sender.GetIpv4().Get()),
                                 sender.GetPort() - FIRST_PORT);
            q->dst = dst;
            sim_net_send(m_stage->net, sim_address_node(dst), q);
        }
    }
    CatchUp();
}

// The stage's clock comes up to ns-3's; its next timer is ns-3's to wake it.
void Carrier::CatchUp() {
    sim_loop *loop = sim_net_loop(m_stage->net);
    sim_loop_run(loop, Now());
    uint64_t at = sim_loop_next(loop);
    if (at == m_armed && m_next.IsRunning()) {
        return;
    }
    m_next.Cancel();
    m_armed = at;
    if (at < LATE) {
        m_next = Simulator::Schedule(NanoSeconds(at - Now()), &Carrier::CatchUp,
                                     this);
    }
}

bool OnLink(void *user, uint32_t, sim_packet *p, uint64_t) {
    return static_cast<Carrier *>(user)->Take(p);
}

// --- The whole ---

void Defaults() {
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(0.2)));
}

bool Carrier::Open(stage *t, char *why) {
    m_stage = t;
    if (m_scenario->n_changes != 0) {
        snprintf(why, SCENARIO_WHY_MAX, "links that change are not for ns-3");
        return false;
    }
    Defaults();
    RngSeedManager::SetSeed(uint32_t(m_scenario->seed + 1));
    m_stats.resize(m_scenario->n_links);
    m_routers.Create(m_scenario->n_nodes);
    m_internet.SetIpv6StackInstall(false);
    m_internet.Install(m_routers);
    m_addresses.SetBase("10.0.0.0", "255.255.255.252");
    if (!Links(why)) {
        return false;
    }
    for (uint32_t i = 0; i < t->n_flows; i++) {
        Host(&t->flows[i]);
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    sim_net_set_tap(t->net, OnLink, this);
    return true;
}

void Carrier::Run() {
    Simulator::Schedule(Seconds(0), &Carrier::CatchUp, this);
    Simulator::Stop(NanoSeconds(m_scenario->duration));
    Simulator::Run();
    sim_loop_run(sim_net_loop(m_stage->net), m_scenario->duration);
}

bool Adapt(void *user, scenario *s, char *why) {
    return static_cast<Carrier *>(user)->Adapt(s, why);
}

bool Open(void *user, stage *t, char *why) {
    return static_cast<Carrier *>(user)->Open(t, why);
}

void Run(void *user) {
    static_cast<Carrier *>(user)->Run();
}

const LinkStats *Link(void *user, uint32_t link) {
    return static_cast<Carrier *>(user)->Link(link);
}

} // namespace

int main(int argc, char **argv) {
    const std::string mark = "native.";
    const char *more =
        "\nns-3 carries the packets.  native.GROUP=TYPE lets ns-3's TCP play a "
        "group of\nflows: LinuxReno, Cubic, Bbr, NewReno, Vegas, Westwood "
        "and so on.\n";
    Carrier carrier;
    show_network network = {Adapt, Open, Run, Link, &carrier};
    std::vector<char *> rest;
    for (int i = 0; i < argc; i++) {
        std::string word = argv[i];
        size_t equals = word.find('=');
        if (word.compare(0, mark.size(), mark) == 0 &&
            equals != std::string::npos) {
            carrier.native[word.substr(mark.size(), equals - mark.size())] =
                "ns3::Tcp" + word.substr(equals + 1);
        } else {
            rest.push_back(argv[i]);
        }
    }
    rest.push_back(nullptr);
    int code = show_command(int(rest.size()) - 1, rest.data(), &network, more);
    Simulator::Destroy();
    return code;
}
